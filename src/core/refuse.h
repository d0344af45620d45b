#pragma once
// Wrong arguments that a call answers with an error code, or ignores.

#include <gasnetex.h>

namespace gex {

/// Checked mode: ends the job in one line, "call: why". Else that line is a warning, unless the
/// client wants none (gex_System_SetVerboseErrors), and the call is to return `error`, which is
/// returned.
int refuse(int error, const char* call, const char* why) noexcept;

/// Flags that a call which makes or destroys an object does not have, and ignores. Checked mode:
/// warns of them, once for each call.
void warn_of_flags(gex_Flags_t flags, gex_Flags_t allowed, const char* call) noexcept;

}  // namespace gex
