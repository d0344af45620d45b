#pragma once
// Why there cannot be another process or thread.

#include <string>

namespace gex::os {

/// The text of an error of `fork` or of starting a thread. Of EAGAIN, which means only that some
/// limit is reached, with the limits: "Resource temporarily unavailable (processes and
/// threads: at most 100 of this user, ulimit -u; 64 in the control group, pids.max)". `root` stands
/// before every path that is read, "" outside of tests.
std::string describe_task_error(int error, const std::string& root = "");

}  // namespace gex::os
