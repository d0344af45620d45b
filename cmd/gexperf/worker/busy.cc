#include "busy.h"

#include <gasnet_coll.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "network.h"

namespace gexperf {

namespace {

/// So long is repeated before the ranks agree to go on.
constexpr double step_ns = 20e6;
constexpr std::uint64_t max_growth = 4;

constexpr double computed_ns = 200e3;

double now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Repeated computed_steps(const Job& job) {
  return [&job](std::uint64_t repetitions) {
    for (; repetitions != 0; --repetitions) {
      // The time of the thread, so that time without a processor is no work.
      const double end = now_ns(CLOCK_THREAD_CPUTIME_ID) + computed_ns;
      while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
      }
      job.barrier();
    }
  };
}

/// Rank 0 comes late to barriers, in which rank 1 sleeps by then: from its call until rank 1 goes
/// on. The median, because a process that is not scheduled just then takes a thousand times as
/// long.
void wake_for(const Job& job, double milliseconds) {
  const timespec pause{0, 2'000'000};
  std::vector<double> took_ns;
  const double begin = now_ns();
  do {
    job.barrier();
    if (job.rank() == 0) nanosleep(&pause, nullptr);
    const auto sent_ns = static_cast<std::uint64_t>(now_ns());
    job.barrier();
    const double end_ns = now_ns();
    took_ns.push_back(end_ns - static_cast<double>(job.from_root(sent_ns)));
  } while (job.from_root(now_ns() - begin < milliseconds * 1e6 ? 1 : 0) != 0);
  std::sort(took_ns.begin(), took_ns.end());
  double median = took_ns[took_ns.size() / 2];
  gex_Event_Wait(gex_Coll_BroadcastNB(job.team(), 1, &median, &median, sizeof median, 0));
  if (job.rank() == 0) std::printf("median %.6g\n", median);
  std::fflush(stdout);
}

}  // namespace

void repeat_for(const Job& job, std::string_view name, double milliseconds) {
  if (job.size() < 2) job.fail("a measurement needs two ranks");
  if (name == wake_up) return wake_for(job, milliseconds);
  const Repeated operation = name == computed_step ? computed_steps(job) : operation_of(job, name);
  if (!operation) job.fail("no operation is called '" + std::string(name) + "'");
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
