#pragma once
// Non-contiguous put and get made of messages, for peers whose memory is not mapped.
//
// A put is packed into negotiated-payload messages, each the description of a part of the peer's
// region and that part's data, and each replied to when the data is written. A get requests parts
// by their descriptions; the replies are unpacked as they arrive, so a get keeps a record of its
// own end until the last one. What is memory of a device, at either end, is packed and unpacked by
// copies that no handler waits for (rma/staging.h).

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/initiate.h"
#include "vis/message_injection.h"
#include "vis/peer_completion.h"
#include "vis/region.h"

namespace gex::vis {

// `Region` is StridedRegion or BlockList.

/// Injects a whole transfer of `bytes`, more than 0. Returns the number of its parts, each of which
/// completes its target when it is done; `not_injected` if the transfer is immediate and the first
/// part found no room (message_injection.h). A put's payload has been copied when this returns
/// unless it comes from a device, and so has a shape; the lists of a get are read until it is done.
template <class Region>
Injected put_packed(const Recipient& recipient, const Region& remote, const Region& local,
                    std::size_t bytes, const PeerCompletion& notice,
                    const Targets& targets) noexcept;
template <class Region>
Injected get_packed(const Recipient& recipient, const Region& remote, const Region& local,
                    std::size_t bytes, CompletionTarget target) noexcept;

/// Start-up only.
void start_messages();

}  // namespace gex::vis
