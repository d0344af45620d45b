#pragma once
// Sending to a process of the neighborhood.

#include "am/links.h"
#include "am/outbound.h"

namespace gex::am {

/// Sends if there is room now; false if not, with nothing done.
bool try_send_local(Link& link, const Outbound& message, bool immediate) noexcept;

/// Sends a reply, whose cell is reserved. A payload that finds no slab is kept in memory of this
/// process, bounded by the requests the requester may have open, until one is free.
void send_reply_local(Link& link, Outbound& message) noexcept;

/// Sends kept replies for which there is a slab now. Returns true if it sent any.
bool flush_kept_replies() noexcept;

}  // namespace gex::am
