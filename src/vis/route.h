#pragma once
// Where a non-contiguous transfer goes, and whether it may wait for room on the way.

#include <gasnetex.h>

namespace gex::vis {

struct Route {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool immediate;
};

}  // namespace gex::vis
