#pragma once
// The quiet-machine rule: a run counts only if other processes used less than 3% of the processors
// and less than 1% of the time was stolen by the machine's host while it lasted.

#include <cstdint>
#include <string_view>

namespace gexperf {

inline constexpr double max_used_by_others = 0.03;
inline constexpr double max_stolen = 0.01;

/// Processor time since the machine started, of all processors, in the kernel's ticks.
struct ProcessorTimes {
  std::uint64_t busy = 0;
  std::uint64_t stolen = 0;
  std::uint64_t total = 0;
};

/// Reads the first line of /proc/stat. False: it is not understood.
bool parse_processor_times(std::string_view text, ProcessorTimes& times);

/// How the processors were shared during a run, as fractions of their time.
struct Disturbance {
  double others = 0;
  double stolen = 0;

  bool quiet() const { return others < max_used_by_others && stolen < max_stolen; }
};

/// From two readings, with what the run itself used in between.
Disturbance disturbance(const ProcessorTimes& before, const ProcessorTimes& after, double own_ns,
                        double ns_per_tick);

/// Watches from its construction on.
class QuietWatch {
 public:
  QuietWatch();
  /// If /proc/stat cannot be read no run is known to be quiet.
  Disturbance until_now(double children_ns) const;

 private:
  ProcessorTimes begin_;
  double own_ns_;
  bool readable_;
};

}  // namespace gexperf
