#pragma once
// Running the ranks under a debugger.

#include <string>
#include <vector>

#include "options.h"

namespace gexrun {

/// The path of a program, found as by a shell. Returns an empty path and sets errno if it cannot be
/// executed.
std::string find_program(const std::string& name);

/// The command that runs `command` under the debugger, non-interactively, and exits with the
/// program's status. On failure the result is empty and `why` is the reason.
std::vector<std::string> under_debugger(Debugger debugger, const std::vector<std::string>& command,
                                        std::string& why);

}  // namespace gexrun
