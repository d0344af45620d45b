#include "shm/placement.h"

#include <unordered_map>

namespace gex::shm {

Placement::Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  // The neighborhood that each host's next rank joins while there is room.
  std::vector<std::uint32_t> open;
  for (std::uint32_t rank = 0; rank < hosts_of_ranks.size(); ++rank) {
    const auto [found, is_new] =
        numbers.try_emplace(hosts_of_ranks[rank], static_cast<std::uint32_t>(hosts.size()));
    const std::uint32_t own = found->second;
    if (is_new) {
      hosts.emplace_back();
      open.emplace_back();
    }
    if (is_new || neighborhoods[open[own]].size() == limit) {
      open[own] = static_cast<std::uint32_t>(neighborhoods.size());
      neighborhoods.emplace_back();
    }
    hosts[own].add(rank);
    neighborhoods[open[own]].add(rank);
    host.push_back(own);
    neighborhood.push_back(open[own]);
  }
}

}  // namespace gex::shm
