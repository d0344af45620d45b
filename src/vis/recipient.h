#pragma once
// The peer of a non-contiguous transfer, and whether the transfer may wait for room.

#include "core/team.h"

namespace gex::vis {

struct Recipient {
  Target peer;
  bool immediate;
};

}  // namespace gex::vis
