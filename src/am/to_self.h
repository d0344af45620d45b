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

/// Runs the handler of a client's message by the shortest way, where calls are not observed. `args`
/// as in Outbound.
void run_short_to_self(MessageWhat what, const gex_AM_Arg_t* args) noexcept;
void run_medium_to_self(MessageWhat what, const gex_AM_Arg_t* args, const void* payload,
                        std::size_t size) noexcept;
/// Runs it on a payload that it may have as it is.
void run_built_to_self(MessageWhat what, const gex_AM_Arg_t* args, void* payload,
                       std::size_t size) noexcept;

/// Delivers the library's own messages that were sent before the call; true if there were any.
/// Client context.
bool deliver_own() noexcept;

}  // namespace gex::am
