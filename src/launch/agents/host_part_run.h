#pragma once
// gexrun's part on each host of a job of several hosts; the root's launch agent starts it
// (launch/hosts/root.h).

#include <string>

namespace gex::launch {

/// Reads the host's part of the job from standard input, or as a task of a batch system that has
/// been given this file (task_shell.h), connects to the root, and launches this host's ranks under
/// a guardian. `plugin_folder` is that of this host's libgex. Ends the process.
[[noreturn]] void run_host_part(const char* program_name, const std::string& plugin_folder,
                                const std::string& task_file);

}  // namespace gex::launch
