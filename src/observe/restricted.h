#pragma once
// Restricted context: the table of calls with their verdicts, and the check.

#include "core/observed.h"

namespace gex {

enum class Call : unsigned {
#define GEX_CALL(identifier, ...) identifier,
#include "core/restricted_calls.def"
#undef GEX_CALL
  count
};

/// The call's name in the interface; where the process uses GASNet-1, its name there besides.
const char* name_of(Call call) noexcept;

/// Returns true if it only asks, over and over perhaps: a poll, or a test of what is in flight.
bool is_question(Call call) noexcept;
/// Returns true if it begins an operation, a message or something that members of a team do
/// together, and does not only ask or wait.
bool communicates(Call call) noexcept;

/// Applies the call's verdict if the calling thread is in restricted context; checked mode, at the
/// start of every call in the table: InCall (in_call.h) does it.
void check_context(Call call) noexcept;

/// Between gasnet_init and gasnet_attach no call of the table is allowed, except to other clients.
bool awaiting_attach() noexcept;
void set_awaiting_attach(bool awaiting) noexcept;

}  // namespace gex
