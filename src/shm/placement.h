#pragma once
// Where the ranks of a job are: on which host, in which neighborhood.
//
// The ranks of a host are consecutive; consecutive groups of them, of a size that is limited by
// GASNET_SUPERNODE_MAXSIZE and is the same everywhere, form the neighborhoods. Every process
// computes the same placement.

#include <cstdint>
#include <vector>

namespace gex::shm {

/// Ranks [first, first + size).
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
};

struct Placement {
  std::vector<std::uint32_t> host;          ///< of each rank, numbered from 0 in rank order
  std::vector<std::uint32_t> neighborhood;  ///< of each rank, likewise
  std::vector<RankRange> hosts;
  std::vector<RankRange> neighborhoods;

  Placement() = default;
  /// `hosts_of_ranks`: something that tells the hosts of consecutive ranks apart. `limit`: most
  /// members of a neighborhood, 0 for no limit.
  Placement(const std::vector<std::uint32_t>& hosts_of_ranks, std::uint32_t limit);

  const RankRange& host_of(std::uint32_t rank) const noexcept { return hosts[host[rank]]; }
  const RankRange& neighborhood_of(std::uint32_t rank) const noexcept {
    return neighborhoods[neighborhood[rank]];
  }
};

}  // namespace gex::shm
