#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace gex::os {

/// Where an address lies in the code of another process, as backtraces show it and addr2line takes
/// it: "solver(+0x1a3f)". Empty if it is in no file that the process has mapped, or /proc does not
/// show that.
std::string describe_code_address(pid_t process, std::uint64_t address);

}  // namespace gex::os
