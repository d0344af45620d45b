#pragma once
// Names that one process of a host has at a time: abstract names of Unix sockets. The kernel gives
// a name to the process that binds it first, of whichever user; it leaves no file, and ends with
// the descriptor, however its process ends. It is not seen in another network namespace.

#include <string>

#include "base/os_file.h"

namespace gex::os {

/// Takes the name, as long as the descriptor is open; empty with errno on failure, EADDRINUSE if
/// it is taken, ENAMETOOLONG above 107 bytes.
FileDescriptor claim_name(const std::string& name) noexcept;

}  // namespace gex::os
