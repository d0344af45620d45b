#pragma once
// Handler tables: registration, and the checks that a message fits its handler.

#include <gasnetex.h>

#include <cstddef>

#include "shm/message.h"

namespace gex::am {

/// gex_EP_RegisterHandlers.
int register_handlers(gex_EP_t endpoint, gex_AM_Entry_t* table, std::size_t count) noexcept;

/// Ends the job in one line if the message does not fit the registration.
void check_delivery(const gex_AM_Entry_t& entry, const MessageHeader& header) noexcept;

}  // namespace gex::am
