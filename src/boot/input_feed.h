#pragma once
// The standard input of what is started on a host: some bytes of ours, and then what the launcher
// itself has as standard input.

#include <string>

#include "base/os_file.h"

namespace gex::boot {

/// A descriptor from which `bytes` can be read, and then the end; empty with errno on failure.
os::FileDescriptor input_of(const std::string& bytes);

/// Starts a thread that writes `bytes` to `pipe`, then all there is to read from standard input,
/// and closes it. The thread ends with the process. 0 or errno.
int feed(os::FileDescriptor pipe, std::string bytes);

}  // namespace gex::boot
