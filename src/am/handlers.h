#pragma once
// Handler tables: registration, and the checks that a message fits its handler.

#include <gasnetex.h>

#include <cstddef>

#include "am/token.h"
#include "core/thread.h"
#include "shm/message.h"

namespace gex::am {

/// The gex_nargs of a GASNet-1 handler: it takes any number of arguments. Nobody registers it so.
inline constexpr unsigned any_arg_count = ~0U;

/// gex_EP_RegisterHandlers, and what else registers, which `call` names.
int register_handlers(gex_EP_t endpoint, gex_AM_Entry_t* table, std::size_t count,
                      const char* call) noexcept;

/// Ends the job in one line if the message does not fit the registration.
void check_delivery(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept;
/// Ends the job: the message names an endpoint that does not exist here.
[[noreturn]] void refuse_endpoint(const MessageHeader& header) noexcept;
/// Ends the job in one line if the handler that has returned left something behind that it must
/// not.
void check_return(const _gex_Token& token, const ThreadRecord& thread) noexcept;

}  // namespace gex::am
