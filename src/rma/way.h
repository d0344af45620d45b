#pragma once
// The choice of what carries a contiguous put or get, made once for each.

#include "core/published.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Chooses the way of a transfer whose remote side lies in `segment`, of several that are possible
/// the first in the order of `Way`, and fills in what it needs.
void choose_way(ResolvedTransfer& transfer, const PublishedSegment& segment) noexcept;

}  // namespace gex::rma
