#pragma once
// Executing the program of a rank.

#include <string>

namespace gex::launch {

/// Executes the program, which is looked for as a shell does, with these arguments, the last of
/// which is null. A file of text without "#!" is a script for /bin/sh; no other file is given to
/// it, as a program for another processor. Returns the error number on failure.
int execute(char* const* arguments);

/// Returns why executing `program` failed with `error`: a missing interpreter or loader of
/// a file that is there is named.
std::string describe_execution_error(const std::string& program, int error);

}  // namespace gex::launch
