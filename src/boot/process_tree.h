#pragma once
// Looking at and ending the processes below this one.
//
// The guardian and the launcher are child subreapers: a process whose parent died becomes their
// child, however often it forked. Killing one's children until there are none left therefore ends
// the whole tree, and nothing outside it.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gex::boot {

/// Process ids of this process's children, zombies included. Empty when /proc is not mounted.
std::vector<pid_t> children();

/// Called with the process id and the wait status of each process that was reaped.
using Reaped = std::function<void(pid_t, int)>;

/// Kills and reaps all children and what they leave behind, except those in `spared`, until none
/// is left. Waits in the kernel; nothing can resist SIGKILL but a process stuck in a device.
void kill_descendants(const std::vector<pid_t>& spared, const Reaped& reaped);

/// Whether the process has a handler of its own for the signal.
bool catches_signal(pid_t process, int signal);

/// Number of threads of this process beside the calling one; absent when /proc is not mounted.
/// ThreadSanitizer's own, which sees to forks itself, is none of them.
std::optional<int> other_threads();

/// The short name of a process (/proc/PID/comm); empty when it cannot be read.
std::string process_name(pid_t process);

/// "signal 9 (Killed)".
std::string describe_signal(int signal);

/// This host's name for messages.
std::string host_name();

/// Writes to standard error in one piece, if its reader takes it: one that does not read is waited
/// for a moment, and then not told.
void tell_reader(std::string_view text);

/// Writes "PROGRAM: TEXT" and a newline to standard error, as `tell_reader` does.
[[gnu::format(printf, 2, 3)]] void report(const char* program, const char* format, ...);

}  // namespace gex::boot
