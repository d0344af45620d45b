#pragma once
// The files that gextrace writes.

#include <cstdio>
#include <functional>
#include <string>

namespace gextrace {

/// Writes a file, or standard output for "-". The status to exit with.
int write_output(const std::string& path, const std::function<void(std::FILE*)>& write);

/// Returns true if an output of that name would overwrite a trace; printed if so.
bool would_overwrite_a_trace(const char* option, const std::string& path);

}  // namespace gextrace
