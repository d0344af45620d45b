#pragma once
// The providers of libfabric that are found on this machine: which interfaces, which of them a rank
// takes, what keeps one from being used; or why nothing is found.

#include <optional>
#include <string>
#include <vector>

#include "net/ofi/absence.h"
#include "net/ofi/provider.h"

namespace gex::net::ofi {

struct Stock {
  std::string provider;
  bool is_usable = false;
  std::optional<Way> closed;  ///< libfabric offers this way, and nothing on it can be opened
  std::string text;           ///< for people: "found: mlx5_0", "not usable: ..."
};

/// Returns what there is of each provider that could carry a job between hosts. Domain and endpoint
/// of those with interfaces of their own are opened, and closed again; not of the one that is
/// `open`, of which this process might get no more.
std::vector<Stock> take_inventory(const Wish& wish, const Machine& machine,
                                  const std::string& open);

/// Returns which of its interfaces the ranks of a host take: "cxi0 (NUMA node 0), cxi1 (NUMA node
/// 1); ranks on NUMA node 0, as this process, take cxi0". `interfaces` are those of one provider.
std::string describe_turns(const std::vector<Info>& interfaces, int own_node,
                           const std::string& sysfs = "/sys");

}  // namespace gex::net::ofi
