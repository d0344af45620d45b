#pragma once
// Reads /proc about processes. Where it is not mounted, there are no answers.
//
// Not async-signal-safe (allocates). Thread rules: any thread.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace gex::os {

/// Process ids of this process's children, zombies included. Empty when /proc is not mounted.
std::vector<pid_t> children();

/// The process itself, and those of its descendants that are in the process group. Only the process
/// when /proc is not mounted.
std::vector<pid_t> family_in_group(pid_t process, pid_t group);

/// Returns true if the process group of this process has been started by a process of its session,
/// as by a shell that can continue it when it is stopped. True when /proc is not mounted.
bool has_parent_in_session();

/// Describes what a process does, as /proc/PID/stat has it.
struct ProcessActivity {
  char state = 0;    ///< R running, S sleeping, D in the kernel, T stopped, Z dead, ...
  double cpu_s = 0;  ///< processor time that it has used
};
/// Empty if there is no such process.
std::optional<ProcessActivity> process_activity(pid_t process);

/// Processor time that the process has used, to the nanosecond. Empty if there is no such process.
std::optional<double> processor_seconds(pid_t process);

/// Returns true if the process has installed a handler for the signal.
bool catches_signal(pid_t process, int signal);

/// Number of other threads of this process; empty if /proc is not mounted. Does not count the
/// background thread of ThreadSanitizer, which handles forks itself.
std::optional<int> other_threads();

/// The words of this process's command line, each with a zero behind it; empty when it cannot be
/// read.
std::string command_line();

/// The short name of a process (/proc/PID/comm); empty when it cannot be read.
std::string process_name(pid_t process);

}  // namespace gex::os
