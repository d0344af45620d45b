#pragma once
// A non-contiguous transfer whose peer is resolved: what each way needs besides its two regions.

#include <cstddef>

#include "core/op.h"
#include "rma/resolved_transfer.h"

namespace gex::vis {

struct Resolved {
  rma::ResolvedTransfer range;  ///< the ranges that it touches (rma/rma.h, resolve_ranges)
  std::size_t bytes;            ///< that move
  bool is_put;
  bool immediate;              ///< it must not wait for room
  std::size_t operations = 0;  ///< Way::network: that it takes at least

  Op op() const noexcept { return range.as(is_put ? OpKind::put : OpKind::get, bytes); }
};

}  // namespace gex::vis
