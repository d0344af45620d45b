#pragma once
// The choice of what carries a put or get, made once for each. That of a non-contiguous one is
// narrowed further (vis/vis.cc, narrow_way).

#include "core/published.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Chooses the way of a transfer whose peer has bound `segment`, of several that are possible the
/// first in the order of `Way`, and fills in what it needs; `Way::kind` has had the host segment at
/// either end, if there is one, pinned.
/// Requires all members above `way`. `local_size`: the bytes of the local side; `transfer.size` is
/// that of the remote one. Returns false if the remote side does not lie in the segment: then
/// messages carry the transfer, and its owner checks.
bool choose_way(ResolvedTransfer& transfer, const PublishedSegment& segment,
                std::size_t local_size) noexcept;

}  // namespace gex::rma
