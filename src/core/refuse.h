#pragma once
// Calls that answer a wrong argument with an error code.

namespace gex {

/// Checked mode: ends the job in one line, "call: why". Else that line is a warning, unless the
/// client wants none (gex_System_SetVerboseErrors), and the call is to return `error`, which is
/// returned.
int refuse(int error, const char* call, const char* why) noexcept;

}  // namespace gex
