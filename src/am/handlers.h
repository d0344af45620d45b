#pragma once
// Handler tables: registration, and the checks that a message fits its handler.

#include <gasnetex.h>

#include <cstddef>

#include "am/message.h"
#include "am/token.h"
#include "core/thread.h"

namespace gex::am {

/// The gex_nargs of a GASNet-1 handler: it takes any number of arguments. register_handlers
/// refuses it.
inline constexpr unsigned any_arg_count = ~0U;

/// gex_EP_RegisterHandlers and other calls that register; `call` names the one for messages.
int register_handlers(gex_EP_t endpoint, gex_AM_Entry_t* table, std::size_t count,
                      const char* call) noexcept;

/// Returns true if the handler is registered for messages of that category and direction.
inline bool takes_kind(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept {
  const gex_Flags_t category = GEX_FLAG_AM_SHORT << static_cast<unsigned>(header.category());
  const gex_Flags_t direction = header.is_reply() ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST;
  return (entry.gex_flags & category) != 0 && (entry.gex_flags & direction) != 0;
}
/// Returns true if it is registered for the message's number of arguments.
inline bool takes_args(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept {
  return entry.gex_nargs == header.arg_count() || entry.gex_nargs == any_arg_count;
}
/// Returns true if the message fits the registration.
inline bool is_registered_for(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept {
  return entry.gex_fnptr != nullptr && takes_kind(entry, header) && takes_args(entry, header);
}
/// Ends the job in one line if the message does not fit the registration.
void check_delivery(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept;
/// Ends the job: the message names an endpoint that does not exist here.
[[noreturn]] void refuse_endpoint(const MessageHeader& header) noexcept;
/// Ends the job in one line if the handler that has returned left a prepared reply open or holds a
/// lock.
void check_return(const _gex_Token& token, const ThreadRecord& thread) noexcept;

}  // namespace gex::am
