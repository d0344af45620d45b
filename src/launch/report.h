#pragma once
// Messages of a launcher, a guardian or a root to the user.

#include <string>
#include <string_view>

namespace gex::launch {

/// Writes to standard error in one piece. If its reader does not read, waits for a moment and then
/// drops the text. On a terminal it begins on a line of its own, unless with a carriage return.
void write_stderr(std::string_view text);

/// Notes if what the ranks have written to the terminal of standard error ends within a line.
void set_within_line(bool within) noexcept;
/// False also once `write_stderr` has ended that line.
bool is_within_line() noexcept;
/// Shares that with the processes that are forked from now on.
void share_within_line() noexcept;

/// Writes "PROGRAM: TEXT" and a newline with `write_stderr`.
[[gnu::format(printf, 2, 3)]] void report(const char* program, const char* format, ...);

/// "signal 9 (Killed)".
std::string describe_signal(int signal);

}  // namespace gex::launch
