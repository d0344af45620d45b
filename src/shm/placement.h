#pragma once
// Where the ranks of a job are: on which host, in which neighborhood.
//
// A host may have any ranks, as the launcher placed them. In rising order, groups of them of the
// size that GASNET_SUPERNODE_MAXSIZE allows form its neighborhoods; the last may be smaller. Every
// process computes the same placement.

#include <cstdint>
#include <vector>

#include "job/rank_set.h"

namespace gex::shm {

struct Placement {
  /// Numbers of each rank's host and neighborhood, numbered in the order of their lowest ranks.
  std::vector<std::uint32_t> host;
  std::vector<std::uint32_t> neighborhood;
  /// The ranks of each.
  std::vector<job::RankSet> hosts;
  std::vector<job::RankSet> neighborhoods;

  Placement() = default;
  /// `hosts_of_ranks`: for each rank, any number that identifies its host. `limit`: maximum members
  /// of a neighborhood, 0 for no limit.
  Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit);

  const job::RankSet& host_of(std::uint32_t rank) const noexcept { return hosts[host[rank]]; }
  const job::RankSet& neighborhood_of(std::uint32_t rank) const noexcept {
    return neighborhoods[neighborhood[rank]];
  }
};

}  // namespace gex::shm
