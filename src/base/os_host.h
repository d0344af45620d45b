#pragma once
// The host this process runs on, as messages name it.

#include <string>

namespace gex::os {

/// The kernel's host name, as gethostname gives it; "localhost" if there is none. Not
/// signal-safe (allocates).
std::string hostname();

/// The number that the kernel draws when the machine starts, as text: the same in all processes
/// between two starts. Empty if it cannot be read. Not signal-safe (allocates).
std::string boot_id();

}  // namespace gex::os
