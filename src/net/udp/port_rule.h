#pragma once
// The ports that ranks of several hosts try first: those of a host follow one another as its ranks
// do. Then the ranks of a host have equal distances between port and rank, which tables of all
// ranks have once a host (job/packed_table.h), however many ranks there are. They lie in the range
// from which the system chooses, and where another program has one, the system does choose.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/port_range.h"
#include "base/random.h"

namespace gex::net::udp {

/// A port as the distance from its rank; distances wrap around.
constexpr std::uint16_t distance_of(std::uint16_t port, std::uint32_t rank) noexcept {
  return static_cast<std::uint16_t>(port - rank);
}
constexpr std::uint16_t port_at(std::uint16_t distance, std::uint32_t rank) noexcept {
  return static_cast<std::uint16_t>(distance + rank);
}

/// A rank's place among the `ranks` of its host, and how many ports each of these needs.
struct PlaceOnHost {
  std::uint32_t host;
  std::uint32_t ranks;
  std::uint32_t index;
  std::uint32_t lanes;
};

/// The port of a lane; 0: the range is too small for a choice. `job`: a number that is another one
/// for each job. Hosts that are one machine have different ports, as far as the range goes.
constexpr std::uint16_t preferred_port(const PortRange& range, std::uint64_t job,
                                       const PlaceOnHost& place, std::uint32_t lane) noexcept {
  const std::uint64_t each = std::uint64_t{place.ranks} * place.lanes;
  const std::uint64_t choices = (range.last - range.first + std::uint64_t{1}) / each;
  if (choices < 2) return 0;
  const std::uint64_t chosen = (SplitMix64(job)() % choices + place.host) % choices;
  return static_cast<std::uint16_t>(range.first + chosen * each +
                                    std::uint64_t{lane} * place.ranks + place.index);
}

/// The range of a text as of ip_local_port_range: two numbers.
std::optional<PortRange> parse_system_ports(std::string_view text) noexcept;
/// Returns true if a list as of ip_local_reserved_ports has the port, or is malformed.
bool is_reserved(std::string_view list, std::uint16_t port) noexcept;

/// The range from which the system chooses ports; empty where it cannot be read.
std::optional<PortRange> system_ports();
/// The list of ports that the system never chooses of itself; empty where it cannot be read.
std::string reserved_by_system();

}  // namespace gex::net::udp
