#include "shm/placement.h"

#include <unordered_map>

namespace gex::shm {

Placement::Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit) {
  struct Host {
    std::uint32_t number;
    std::uint32_t neighborhood;  ///< that its next rank joins while there is room
    std::uint32_t members;       ///< of that
  };
  std::unordered_map<std::uint32_t, Host> hosts_by_name;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> neighborhoods_of_ranks;
  for (const std::uint32_t name : hosts_of_ranks) {
    const auto [found, is_new] = hosts_by_name.try_emplace(name, Host{host_count, 0, 0});
    Host& own = found->second;
    if (is_new) ++host_count;
    if (is_new || own.members == limit) {
      own.neighborhood = neighborhood_count++;
      own.members = 0;
    }
    ++own.members;
    numbers.push_back(own.number);
    neighborhoods_of_ranks.push_back(own.neighborhood);
  }
  host = job::RankNumbers(numbers);
  neighborhood = job::RankNumbers(neighborhoods_of_ranks);
}

std::vector<job::RankSet> Placement::groups(const job::RankNumbers& numbers, std::uint32_t count) {
  std::vector<job::RankSet> ranks(count);
  for (std::uint32_t rank = 0; rank < numbers.size(); ++rank) ranks[numbers[rank]].add(rank);
  return ranks;
}

}  // namespace gex::shm
