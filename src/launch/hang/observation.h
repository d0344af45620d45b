#pragma once
// The progress that guardians see of their ranks in a job that is watched for hangs
// (hang_watch.h). An agent that starts hosts reports it once for all of them, so that the launcher
// gets one small frame from each of its agents in an interval, however many hosts there are.

#include <cstdint>
#include <span>
#include <vector>

#include "job/protocol.h"

namespace gex::launch {

/// A host, or some hosts together, have observed this since the last report.
struct Observation {
  bool progressed = false;      ///< something arrived at a rank, or completed
  std::uint64_t waited_ms = 0;  ///< the longest wait of a rank
  /// So long no rank has begun an operation or computed, as far as that is seen.
  std::uint64_t idle_ms = 0;
  bool polls = false;  ///< a rank does nothing but poll

  bool operator==(const Observation&) const = default;
};

/// The observation to which those of hosts are added.
inline constexpr Observation of_no_host{.idle_ms = UINT64_MAX};
/// Adds what one host more has observed, but for its progress.
void add_to(Observation& all, const Observation& one) noexcept;

job::FrameHeader frame_of(const Observation& observation);
Observation observation_of(const job::FrameHeader& header);

/// Thread rules: one thread.
class MergedObservations {
 public:
  /// In a job of so many hosts.
  explicit MergedObservations(std::size_t hosts) : hosts_(hosts) {}

  void add(std::uint32_t host, const Observation& observation);
  /// Returns true if all of these hosts have reported since the last `take`.
  bool complete(std::span<const std::uint32_t> hosts) const;
  /// The observation of these hosts together. One that has not reported since counts with what it
  /// reported last; one that has never done so, as one whose ranks compute.
  Observation take(std::span<const std::uint32_t> hosts);

 private:
  struct Host {
    Observation seen;
    bool is_new = false;
  };
  std::vector<Host> hosts_;
  bool progressed_ = false;  ///< at a host that may have ended
};

}  // namespace gex::launch
