#pragma once
// The variables that give a rank, and what it runs, its place in the job: GEX_RANK, GEX_SIZE,
// GEX_LOCAL_RANK and GEX_LOCAL_SIZE (its number among the ranks of its host, and how many those
// are).

#include <cstdint>

namespace gex::job {

struct RankPlace {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 1;
};

/// Sets them in the environment of this process. No other thread may use the environment meanwhile.
void set_rank_variables(const RankPlace& place);

}  // namespace gex::job
