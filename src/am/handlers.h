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
/// Returns true if the message fits a handler of the client's, as it is registered. Asked by
/// run_handler (deliver.h), as is fits_internal (internal.h) of the library's own.
inline bool fits_entry(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept {
  return entry.gex_fnptr != nullptr && takes_kind(entry, header) && takes_args(entry, header);
}
/// Ends the job in one line with the reason why the message does not fit.
[[noreturn]] void refuse_delivery(const gex_AM_Entry_t& entry,
                                  const MessageHeader& header) noexcept;
/// Ends the job: the message, from a network, does not fit the library's own handler.
[[noreturn]] void refuse_internal(const MessageHeader& header) noexcept;
/// Ends the job: the message names an endpoint that does not exist here.
[[noreturn]] void refuse_endpoint(const MessageHeader& header) noexcept;
/// Ends the job in one line if the handler that has returned left a prepared reply open or holds a
/// lock.
void check_return(const _gex_Token& token, const ThreadRecord& thread) noexcept;

}  // namespace gex::am
