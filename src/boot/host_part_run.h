#pragma once
// The part of gexrun that runs on a host of a job of several, started there by the root (root.h).

#include <string>

namespace gex::boot {

/// What the first argument of gexrun is when the root has started it.
inline constexpr const char* host_part_argument = "--host-part";

/// The exit status of one that could not start and has told the user why.
inline constexpr int told_status = 119;

/// Reads what is to be done from standard input, connects to the root, and launches this host's
/// ranks under a guardian. `plugin_folder` is the one of this host's libgex. Ends the process.
[[noreturn]] void run_host_part(const char* program_name, const std::string& plugin_folder);

}  // namespace gex::boot
