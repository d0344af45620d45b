#pragma once
// Calls that answer a wrong argument with an error code.

namespace gex {

/// Checked mode: ends the job in one line, "call: why". Else that line is a warning if the client
/// asked for it (gex_System_SetVerboseErrors), and the call is to return `error`, which is
/// returned.
int refuse(int error, const char* call, const char* why) noexcept;

}  // namespace gex
