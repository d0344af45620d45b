#pragma once
// Messages to another process of the neighborhood: all of them, and waiting for room.

#include <atomic>

#include "am/links.h"
#include "am/outbound.h"

namespace gex::am {

/// Start-up only: members may open further lanes to this process.
void receive_lanes() noexcept;

/// send_request by a link.
int send_request_to_neighbor(Link& link, const Outbound& message, bool immediate) noexcept;

/// Sends a reply, whose cell is reserved. A payload that finds no slab is kept in memory of this
/// process, bounded by the requests the requester may have open, until one is free.
void send_reply_to_neighbor(Link& link, const Outbound& message) noexcept;

/// True while replies are kept.
extern std::atomic<bool> any_kept;
/// Sends kept replies for which there is a slab now. Returns true if it sent any.
bool flush_kept_replies() noexcept;

}  // namespace gex::am
