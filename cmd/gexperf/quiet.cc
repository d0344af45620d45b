#include "quiet.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace gexperf {

namespace {

/// The columns of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; what follows
/// is contained in the first two.
constexpr unsigned columns = 8;
constexpr unsigned idle_column = 3;
constexpr unsigned iowait_column = 4;
constexpr unsigned steal_column = 7;

bool read_processor_times(ProcessorTimes& times) {
  std::ifstream file("/proc/stat");
  std::string line;
  return std::getline(file, line) && parse_processor_times(line, times);
}

double own_processor_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

}  // namespace

bool parse_processor_times(std::string_view text, ProcessorTimes& times) {
  if (!text.starts_with("cpu ")) return false;
  const char* at = text.data() + 4;
  const char* const end = text.data() + text.size();
  times = {};
  for (unsigned column = 0; column < columns; ++column) {
    at = std::find_if(at, end, [](char c) { return c != ' '; });
    std::uint64_t ticks = 0;
    const auto [rest, error] = std::from_chars(at, end, ticks);
    if (error != std::errc()) return false;
    at = rest;
    times.total += ticks;
    if (column == steal_column)
      times.stolen += ticks;
    else if (column != idle_column && column != iowait_column)
      times.busy += ticks;
  }
  return true;
}

Disturbance disturbance(const ProcessorTimes& before, const ProcessorTimes& after, double own_ns,
                        double ns_per_tick) {
  const auto ticks = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to) - static_cast<double>(from);
  };
  const double total = ticks(before.total, after.total);
  // Too short for a statement: taken as disturbed.
  if (total <= 0) return {1, 1};
  const double others = ticks(before.busy, after.busy) - own_ns / ns_per_tick;
  return {std::max(others, 0.0) / total, ticks(before.stolen, after.stolen) / total};
}

QuietWatch::QuietWatch() : own_ns_(own_processor_ns()), readable_(read_processor_times(begin_)) {
}

Disturbance QuietWatch::until_now(double children_ns) const {
  ProcessorTimes end;
  if (!readable_ || !read_processor_times(end)) return {1, 1};
  return disturbance(begin_, end, children_ns + own_processor_ns() - own_ns_,
                     1e9 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace gexperf
