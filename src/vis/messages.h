#pragma once
// Non-contiguous put and get made of messages, for what neither copies nor the network carry
// (vis.cc, narrow_way).
//
// A put is packed into negotiated-payload messages (but for deferred ones, message_series.h), each
// the description of a part of the peer's region and that part's data, and each replied to when the
// data is written. A get requests parts by their descriptions; the replies are unpacked as they
// arrive, so a get keeps a record of its own end until the last one. What is memory of a device, at
// either end, is packed and unpacked by copies that no handler waits for (rma/staging.h).

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/initiate.h"
#include "vis/noncontiguous_transfer.h"
#include "vis/peer_completion.h"
#include "vis/region.h"

namespace gex::vis {

// `Region` is StridedRegion or BlockList.

/// Injects a whole transfer, of more than 0 bytes. Returns the number of its parts, each of which
/// completes `done` when it is done; `not_injected` if the transfer is immediate and the first
/// part found no room (message_series.h). A put's payload has been copied when this returns
/// unless it comes from a device. A shape is copied; the lists of a get are read until it is done.
template <class Region>
Injected put_by_messages(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, const PeerCompletion& notice,
                         const CompletionTargets& targets) noexcept;
template <class Region>
Injected get_by_messages(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, CompletionTarget done) noexcept;

/// Start-up only.
void start_messages();

}  // namespace gex::vis
