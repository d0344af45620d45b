#pragma once
// Inspecting and ending the descendants of this process.
//
// The guardian and the launcher are child subreapers: a descendant whose parent has died becomes
// their child. Killing all children repeatedly until none is left therefore ends the whole tree,
// and nothing outside it.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gex::boot {

/// Process ids of this process's children, zombies included. Empty when /proc is not mounted.
std::vector<pid_t> children();

/// Called with the process id and wait status of each reaped process.
using Reaped = std::function<void(pid_t, int)>;

/// Kills and reaps all descendants, except the children in `spared`. Blocks until none is left;
/// only a process that hangs in a device driver survives SIGKILL.
void kill_descendants(const std::vector<pid_t>& spared, const Reaped& reaped);

/// Whether the process has installed a handler for the signal.
bool catches_signal(pid_t process, int signal);

/// Number of other threads of this process; empty if /proc is not mounted. Does not count the
/// background thread of ThreadSanitizer, which handles forks itself.
std::optional<int> other_threads();

/// The short name of a process (/proc/PID/comm); empty when it cannot be read.
std::string process_name(pid_t process);

/// "signal 9 (Killed)".
std::string describe_signal(int signal);

/// The name of this host.
std::string host_name();

/// Writes to standard error in one piece. If its reader does not read, waits for a moment and then
/// drops the text.
void write_stderr(std::string_view text);

/// Writes "PROGRAM: TEXT" and a newline with `write_stderr`.
[[gnu::format(printf, 2, 3)]] void report(const char* program, const char* format, ...);

}  // namespace gex::boot
