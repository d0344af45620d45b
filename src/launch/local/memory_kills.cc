#include "launch/local/memory_kills.h"

#include <utility>

#include "base/os_memory_limits.h"

namespace gex::launch {

std::string MemoryKills::explain() {
  const auto now = os::cgroup_memory_kills();
  const auto before = std::exchange(known_, now);
  if (!now || !before || *now <= *before) return {};
  const os::CgroupLimits limits = os::cgroup_limits();
  std::string text = ": killed by the kernel for lack of memory";
  if (limits.hard_memory) {
    text += "; its control group allows " + os::format_bytes(*limits.hard_memory) + " (" +
            limits.hard_memory_setting + ")";
  } else {
    text += "; the host has " + os::format_bytes(os::physical_memory());
  }
  return text;
}

}  // namespace gex::launch
