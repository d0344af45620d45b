#include "launch/hang/observation.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gex::launch {

void add_to(Observation& all, const Observation& one) noexcept {
  all.waited_ms = std::max(all.waited_ms, one.waited_ms);
  all.idle_ms = std::min(all.idle_ms, one.idle_ms);
  all.polls |= one.polls;
}

job::FrameHeader frame_of(const Observation& observation) {
  constexpr std::uint64_t max_ms = std::numeric_limits<std::uint32_t>::max();
  job::FrameHeader header;
  header.kind = job::FrameKind::host_observed;
  header.code = (observation.progressed ? job::observed_progress : 0) |
                (observation.polls ? job::observed_polls : 0);
  header.sequence = static_cast<std::uint32_t>(std::min(observation.idle_ms, max_ms));
  header.count = static_cast<std::uint32_t>(std::min(observation.waited_ms, max_ms));
  return header;
}

Observation observation_of(const job::FrameHeader& header) {
  return {(header.code & job::observed_progress) != 0, header.count, header.sequence,
          (header.code & job::observed_polls) != 0};
}

void MergedObservations::add(std::uint32_t host, const Observation& observation) {
  hosts_[host] = {observation, true};
  progressed_ |= observation.progressed;
}

bool MergedObservations::complete(std::span<const std::uint32_t> hosts) const {
  return std::ranges::all_of(hosts, [this](std::uint32_t host) { return hosts_[host].is_new; });
}

Observation MergedObservations::take(std::span<const std::uint32_t> hosts) {
  Observation all = of_no_host;
  all.progressed = std::exchange(progressed_, false);
  for (const std::uint32_t host : hosts) {
    hosts_[host].is_new = false;
    add_to(all, hosts_[host].seen);
  }
  return all;
}

}  // namespace gex::launch
