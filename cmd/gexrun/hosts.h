#pragma once
// The hosts that the user names, and which ranks each of them gets.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boot/host_parts.h"

namespace gexrun {

struct HostSlots {
  std::string name;
  std::uint32_t slots = 1;
};

/// Adds the hosts of "a,b:2,c"; one that is named again gets more slots. What is wrong with the
/// list, or empty.
std::string add_hosts(std::string_view list, std::vector<HostSlots>& hosts);

/// The same for a file with a host on each line; '#' begins a comment.
std::string add_hosts_of_file(const std::string& path, std::vector<HostSlots>& hosts);

std::uint64_t slots_of(const std::vector<HostSlots>& hosts);

/// How hosts get their ranks: `block`, each as many as it has slots before the next gets any;
/// `cyclic`, one each in turn, as long as they have slots.
enum class Map { block, cyclic };

/// Gives the ranks to the hosts, which have slots for all. Those that get none are left out.
gex::boot::HostParts place(std::uint32_t ranks, const std::vector<HostSlots>& hosts, Map map);

}  // namespace gexrun
