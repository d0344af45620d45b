#pragma once
// Which of several network interfaces is near: those on the NUMA node of this process come first,
// and the ranks of a host spread over those that are equally near.

#include <cstdint>
#include <string>
#include <vector>

#include "net/ofi/fabric.h"

namespace gex::net::ofi {

/// Returns the NUMA node on which all processors of this process are; -1: on several, or unknown.
int own_node(const std::string& sysfs = "/sys");

/// Returns the NUMA node of an interface; -1: unknown, as without a place on the PCI bus.
int node_of(const fi_info& info, const std::string& sysfs = "/sys");

/// Puts the interfaces into the order in which they are to be tried: first those of the node
/// `own`, then the others. Among equals this begins with the one whose turn it is: `turn` counts
/// the ranks of this host.
void order_by_nearness(std::vector<Info>& interfaces, int own, std::uint32_t turn,
                       const std::string& sysfs = "/sys");

}  // namespace gex::net::ofi
