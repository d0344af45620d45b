#pragma once
// Non-contiguous put and get by the network itself: as transfers of several pieces where it has
// them, else as a put or get of each piece.
//
// The peer takes no part, and nothing is packed; but an operation moves no more pieces than the
// network's limit, while a message packs as many as fit in its bytes. So a transfer goes this way
// if that takes no more operations than there would be messages, replies included; GEX_VIS_PIECES
// overrides that.

#include <cstddef>

#include "core/initiate.h"
#include "vis/region.h"

namespace gex::vis {

// `Region` is StridedRegion or BlockList.

/// Returns true if the network, which reaches the peer's memory, is to carry a transfer of `bytes`
/// between these regions. `message`: how many bytes one message would carry.
template <class Region>
bool suits_network(const Region& remote, const Region& local, std::size_t bytes,
                   std::size_t message) noexcept;

/// Injects a whole transfer, which `op` describes, waiting for room, polling. `key`: the network's,
/// of the peer's segment. If `immediate`, injects nothing if the first operation finds no room;
/// later operations that find none are deferred to polls. The source of a put is in use after this.
/// A shape is copied, lists are read until the transfer is complete.
template <class Region>
Injected inject_native(const Op& op, const void* key, const Region& remote, const Region& local,
                       const Targets& targets, bool immediate) noexcept;

/// Reads GEX_VIS_PIECES; start-up only.
void start_native();

}  // namespace gex::vis
