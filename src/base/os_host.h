#pragma once
// The host this process runs on, as messages name it.

#include <string>

namespace gex::os {

/// The kernel's host name, as gethostname gives it; "localhost" if there is none. Not
/// signal-safe (allocates).
std::string hostname();

}  // namespace gex::os
