#pragma once
// Non-contiguous put and get by the network itself: as transfers of several pieces where it has
// them, else as a put or get of each piece.
//
// The peer takes no part, and nothing is packed; but an operation moves no more pieces than the
// network's limit, while a message packs as many as fit in its bytes. So a transfer goes this way
// if that takes no more operations than there would be messages, replies included; GEX_VIS_PIECES
// overrides that. Several puts of a transfer without local completion are completed together, by
// the network's flush behind them, where it has one.

#include <cstddef>

#include "core/initiate.h"
#include "vis/noncontiguous_transfer.h"
#include "vis/pieces.h"
#include "vis/region.h"

namespace gex::vis {

// `Region` is StridedRegion or BlockList.

/// Lower bound of the operations of the network that a transfer of `bytes` takes.
std::size_t min_native_operations(const PieceCounts& pieces, std::size_t bytes) noexcept;

/// Returns true if the network, which reaches the peer's memory, is to carry a transfer that takes
/// it so many operations. `message_bytes`: how many one message would carry.
bool suits_network(std::size_t operations, std::size_t bytes, std::size_t message_bytes) noexcept;

/// Injects a whole transfer, waiting for room, polling. If the transfer is immediate, injects
/// nothing if the first operation finds no room; later operations that find none are deferred to
/// polls. The source of a put is in use after this. A shape is copied, lists are read until the
/// transfer is complete.
template <class Region>
Injected move_by_network(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, const CompletionTargets& targets) noexcept;

/// Reads GEX_VIS_PIECES; start-up only.
void start_native();

}  // namespace gex::vis
