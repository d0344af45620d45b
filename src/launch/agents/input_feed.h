#pragma once
// The standard input of a launch agent: the root's start message, and for rank 0's host the
// launcher's own standard input after it. That is read only once the host has joined the job, so
// that an agent that fails before takes nothing of it.

#include <string>

#include "base/os_file.h"

namespace gex::launch {

/// A descriptor from which exactly `bytes` can be read. Returns an empty one and sets errno on
/// failure.
os::FileDescriptor input_of(const std::string& bytes);

/// Starts a thread that writes `bytes` to `pipe` and closes it. Returns 0 or errno.
int send_bytes(os::FileDescriptor pipe, std::string bytes);

/// Starts a thread that copies standard input to `pipe` until its end, and closes it. The thread
/// ends with the process. Returns 0 or errno.
int copy_input(os::FileDescriptor pipe);

}  // namespace gex::launch
