#pragma once
// Messages of a process to itself.
//
// A client's request runs its handler in the calling thread before it returns, a reply within its
// handler; nothing else is delivered meanwhile. So a handler that replies has its reply's handler
// above it on the stack, and no third one. The library's own messages, whose senders may hold its
// locks, wait for the next poll.

#include "am/message.h"
#include "am/outbound.h"
#include "am/slabs.h"

namespace gex::am {

inline bool is_to_self(gex_Rank_t jobrank) noexcept {
  return jobrank == gex_proc_.jobrank;
}

/// Sends a request or a reply. Never fails. Requests of clients: client context only, unless the
/// usage error of that is not checked.
void send_to_self(const Outbound& message) noexcept;

/// Delivers the library's own messages that were sent before the call; true if there were any.
/// Client context.
bool deliver_internal_to_self() noexcept;

}  // namespace gex::am
