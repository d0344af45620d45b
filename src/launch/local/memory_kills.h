#pragma once
// Detects that the kernel has killed a process for lack of memory. The parent gets only signal 9,
// but the control group counts such kills.

#include <cstdint>
#include <optional>
#include <string>

#include "base/os_cgroup.h"

namespace gex::launch {

/// Thread rules: one thread. Requires that the processes are in the control group of this one.
class MemoryKills {
 public:
  MemoryKills() : known_(os::cgroup_memory_kills()) {}

  /// A suffix for the message about a process that was killed by signal 9: a text if the kernel has
  /// killed a process of the group for lack of memory since the last call or the construction,
  /// otherwise empty.
  std::string explain();

 private:
  std::optional<std::uint64_t> known_;
};

}  // namespace gex::launch
