#pragma once
// The peer of a non-contiguous transfer, and whether the transfer may wait for room.

#include <gasnetex.h>

namespace gex::vis {

struct Recipient {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool immediate;
};

}  // namespace gex::vis
