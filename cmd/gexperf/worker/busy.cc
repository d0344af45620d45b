#include "busy.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "network.h"

namespace gexperf {

namespace {

/// So long is repeated before the ranks agree to go on.
constexpr double step_ns = 20e6;
constexpr std::uint64_t max_growth = 4;

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

void repeat_for(const Job& job, std::string_view name, double milliseconds) {
  const Repeated operation = operation_of(job, name);
  if (!operation) job.fail("no operation is called '" + std::string(name) + "'");
  if (job.size() < 2) job.fail("a measurement needs two ranks");
  double spent_ns = 0;
  double repeated = 0;
  for (std::uint64_t step = 1;;) {
    // A rank must not begin before the other one has ended its part of the step before.
    job.barrier();
    const double begin = now_ns();
    operation(step);
    spent_ns += now_ns() - begin;
    repeated += static_cast<double>(step);
    const auto next = static_cast<std::uint64_t>(step_ns / (spent_ns / repeated));
    step = job.from_root(
        spent_ns >= milliseconds * 1e6 ? 0 : std::clamp<std::uint64_t>(next, 1, max_growth * step));
    if (step == 0) break;
  }
  if (job.rank() == 0) std::printf("mean %.6g\n", spent_ns / repeated);
  std::fflush(stdout);
}

}  // namespace gexperf
