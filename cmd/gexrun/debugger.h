#pragma once
// Running the ranks under a tool that watches them.

#include <string>
#include <vector>

#include "options.h"

namespace gexrun {

/// Where a program is, found as a shell finds it; empty, with errno, when it cannot be executed.
std::string find_program(const std::string& name);

/// The command that runs `command` under the debugger, non-interactively, and exits with the
/// program's status. On failure empty, and `why` says what is missing.
std::vector<std::string> under_debugger(Debugger debugger, const std::vector<std::string>& command,
                                        std::string& why);

}  // namespace gexrun
