#pragma once
// The hosts that the user names, and the placement of ranks on them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job/host_parts.h"

namespace gex::launch {

struct HostSlots {
  std::string name;
  std::uint32_t slots = 1;
};

/// Adds a host, or slots to one that is there; with 0 slots it is left out. Returns false for a
/// name that no host has, and for more slots than a job can have ranks.
bool add_host(std::string_view name, std::uint32_t slots, std::vector<HostSlots>& hosts);

/// The text in quotes, as a message shows it, also if it has other bytes than text.
std::string in_quotes(std::string_view text);

/// Adds the hosts of "a,b:2,c"; a host that is named again gets more slots, and one with 0 is left
/// out. Returns a message if the list is invalid, otherwise "".
std::string add_hosts(std::string_view list, std::vector<HostSlots>& hosts);

/// Adds the hosts of a file with a host on each line, where '#' begins a comment. Returns a message
/// if the file is invalid, otherwise "".
std::string add_hosts_of_file(const std::string& path, std::vector<HostSlots>& hosts);

std::uint64_t slots_of(const std::vector<HostSlots>& hosts);

/// The placement of ranks: `block` fills the slots of a host before those of the next one; `cyclic`
/// places one rank on each host in turn, as long as it has slots.
enum class Map { block, cyclic };

/// Places the ranks on the hosts. Requires slots for all ranks. Hosts without a rank are left out.
job::HostParts place(std::uint32_t ranks, const std::vector<HostSlots>& hosts, Map map);

}  // namespace gex::launch
