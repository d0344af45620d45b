#pragma once
// Whether a process that was killed was killed by the kernel for lack of memory: its parent sees
// signal 9 and no more, but the control group counts.

#include <cstdint>
#include <optional>
#include <string>

#include "base/os_cgroup.h"

namespace gex::boot {

/// One thread. The processes are in the control group of this one.
class MemoryKills {
 public:
  MemoryKills() : known_(os::cgroup_memory_kills()) {}

  /// Of a process that was killed by signal 9: why, to go behind its message, if the kernel has
  /// killed one of the group for lack of memory since the last call or the beginning; otherwise
  /// empty.
  std::string explain();

 private:
  std::optional<std::uint64_t> known_;
};

}  // namespace gex::boot
