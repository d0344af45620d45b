#pragma once
// The limits of this process's control groups (cgroup version 1 or 2, or both).
//
// A container's limits stand here and nowhere else: memory and processor counts of the host do not
// show them. A limit counts if it is set on the process's own group or on any group above
// it that is visible; the smallest one holds.

#include <cstdint>
#include <optional>
#include <string>

namespace gex::os {

struct CgroupLimits {
  /// Bytes beyond which the group is slowed down or ended; absent: unlimited.
  std::optional<std::uint64_t> memory;
  std::optional<std::uint64_t> hard_memory;  ///< beyond which processes are killed
  std::optional<double> cpus;                ///< processor seconds per second; absent: unlimited
  std::optional<std::uint64_t> tasks;        ///< processes and threads; absent: unlimited
  const char* memory_setting = "";           ///< the file that sets `memory`
  const char* hard_memory_setting = "";      ///< and `hard_memory`
};

/// Reads the limits that hold now. `root` stands before every path that is read, "" outside of
/// tests. What cannot be read (no /proc, no mounted hierarchy) limits nothing.
CgroupLimits cgroup_limits(const std::string& root = "");

/// How many processes of this process's own control group the kernel has killed for lack of memory,
/// the group's or the host's. Absent: the system does not count (no group but the root, no /proc,
/// Linux before 4.13).
std::optional<std::uint64_t> cgroup_memory_kills(const std::string& root = "");

}  // namespace gex::os
