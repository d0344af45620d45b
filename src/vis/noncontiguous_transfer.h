#pragma once
// A non-contiguous transfer whose peer is resolved: what each way needs besides its two regions.

#include <cstddef>

#include "core/op.h"
#include "rma/resolved_transfer.h"

namespace gex::vis {

struct NoncontiguousTransfer {
  /// Its peer and its way, of the ranges that it touches (rma/rma.h, resolve_ranges): `local` and
  /// `remote` are the lowest bytes, and `size` is of the remote range, holes included. Never the
  /// data to move.
  rma::ResolvedTransfer resolved;
  std::size_t bytes;          ///< of data
  std::size_t message_bytes;  ///< that one message to the peer carries
  bool is_put;
  bool immediate;  ///< it must not wait for room
  /// Way::network: it certainly takes several operations; else it may, if pieces do not fit well.
  bool takes_several_operations = false;

  Op op() const noexcept { return resolved.as(is_put ? OpKind::put : OpKind::get, bytes); }
};

}  // namespace gex::vis
