#pragma once
// The standard input of a launch agent: the root's start message, and for rank 0's host the
// launcher's own standard input after it.

#include <string>

#include "base/os_file.h"

namespace gex::launch {

/// A descriptor from which exactly `bytes` can be read. Returns an empty one and sets errno on
/// failure.
os::FileDescriptor input_of(const std::string& bytes);

/// Starts a thread that writes `bytes` to `pipe`, copies standard input to it until its end, and
/// closes it. The thread ends with the process. Returns 0 or errno.
int feed(os::FileDescriptor pipe, std::string bytes);

}  // namespace gex::launch
