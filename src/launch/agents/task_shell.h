#pragma once
// A remote shell made of a batch system's task manager (pbsdsh of PBS and Torque), which starts a
// command on a host of the job, but passes it neither an environment nor standard input, and sends
// its output to the job's own.
//
// It writes the start message into a file that only the user can read, in the working folder, which
// all hosts see, or else the home folder. The task reads and removes it, and connects to this
// process three times, authenticated by a secret in the file (auth_handshake.h): its standard
// input, output and error. Nothing seals what they carry.

#include <string>
#include <vector>

namespace gex::launch {

/// The first argument of a gexrun that is a remote shell. The starter's words follow, then
/// gexrun's path on the other host and `host_part_argument`.
inline constexpr const char* task_shell_argument = "--task-shell";

/// Returns true if a task manager, which may have a shell split the words, passes this path on.
bool is_plain_path(const std::string& path);

/// Returns the exit status of an ssh that has failed (255) if the task has not begun.
int run_task_shell(const char* program_name, std::vector<std::string> words);

/// In the gexrun that has started remote shells: removes the files of those that were killed.
void remove_start_files();

/// In the task: takes the start message from the file, and standard input, output and error from
/// the shell. Returns "" or why it cannot.
std::string enter_task(const std::string& file, std::string& message);

}  // namespace gex::launch
