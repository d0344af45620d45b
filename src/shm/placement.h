#pragma once
// Where the ranks of a job are: on which host, in which neighborhood.
//
// A host may have any ranks, as the launcher placed them. In rising order, groups of them of the
// size that GASNET_SUPERNODE_MAXSIZE allows form its neighborhoods; the last may be smaller. Every
// process computes the same placement.

#include <cstdint>
#include <vector>

#include "job/rank_numbers.h"
#include "job/rank_set.h"

namespace gex::shm {

struct Placement {
  /// Numbers of each rank's host and neighborhood, numbered in the order of their lowest ranks.
  job::RankNumbers host;
  job::RankNumbers neighborhood;
  std::uint32_t host_count = 0;
  std::uint32_t neighborhood_count = 0;

  Placement() = default;
  /// `hosts_of_ranks`: for each rank, any number that identifies its host. `limit`: maximum members
  /// of a neighborhood, 0 for no limit.
  Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit);

  // The following are computed by each call.

  /// The ranks of all hosts, by the hosts' numbers.
  std::vector<job::RankSet> hosts() const { return groups(host, host_count); }
  std::vector<job::RankSet> neighborhoods() const {
    return groups(neighborhood, neighborhood_count);
  }
  job::RankSet host_of(std::uint32_t rank) const { return host.ranks_of(host[rank]); }
  job::RankSet neighborhood_of(std::uint32_t rank) const {
    return neighborhood.ranks_of(neighborhood[rank]);
  }

 private:
  static std::vector<job::RankSet> groups(const job::RankNumbers& numbers, std::uint32_t count);
};

}  // namespace gex::shm
