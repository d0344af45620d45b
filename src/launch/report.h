#pragma once
// Messages of a launcher, a guardian or a root to the user.

#include <string>
#include <string_view>

namespace gex::launch {

/// Writes to standard error in one piece. If its reader does not read, waits for a moment and then
/// drops the text.
void write_stderr(std::string_view text);

/// Writes "PROGRAM: TEXT" and a newline with `write_stderr`.
[[gnu::format(printf, 2, 3)]] void report(const char* program, const char* format, ...);

/// "signal 9 (Killed)".
std::string describe_signal(int signal);

}  // namespace gex::launch
