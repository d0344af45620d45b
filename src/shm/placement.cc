#include "shm/placement.h"

namespace gex::shm {

Placement::Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit) {
  for (std::uint32_t rank = 0; rank < hosts_of_ranks.size(); ++rank) {
    const bool new_host = rank == 0 || hosts_of_ranks[rank] != hosts_of_ranks[rank - 1];
    if (new_host) hosts.push_back({rank, 0});
    if (new_host || neighborhoods.back().size == limit) neighborhoods.push_back({rank, 0});
    ++hosts.back().size;
    ++neighborhoods.back().size;
    host.push_back(static_cast<std::uint32_t>(hosts.size() - 1));
    neighborhood.push_back(static_cast<std::uint32_t>(neighborhoods.size() - 1));
  }
}

}  // namespace gex::shm
