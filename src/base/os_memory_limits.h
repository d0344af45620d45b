#pragma once
// How much memory there is, and what keeps this process from using all of it.
//
// A segment that cannot be had must be refused before it is touched: these are the numbers the
// refusal is computed from and names. Functions that read /proc or /sys take the root of the file
// system as their last parameter, "" outside of tests.

#include <cstdint>
#include <optional>
#include <string>

namespace gex::os {

/// Bytes of memory in this host; 0 if that cannot be determined.
std::uint64_t physical_memory(const std::string& root = "");

/// Bytes that could be used now without swapping (MemAvailable); `physical_memory` if untold.
std::uint64_t available_memory(const std::string& root = "");

/// RLIMIT_AS: bytes of addresses this process may have; absent: unlimited.
std::optional<std::uint64_t> address_space_limit() noexcept;

/// RLIMIT_FSIZE: bytes a file of this process may have, a memory file too; absent: unlimited.
std::optional<std::uint64_t> file_size_limit() noexcept;

/// All of it, for gexinfo and for the one line that refuses a segment.
struct MemoryLimits {
  std::uint64_t physical = 0;
  std::uint64_t available = 0;
  std::optional<std::uint64_t> cgroup;
  const char* cgroup_setting = "";  ///< the control group's file that sets it
  std::optional<std::uint64_t> address_space;
  std::optional<std::uint64_t> file_size;

  /// Returns the bytes that "physical memory" means for GASNET_MAX_SEGSIZE and its like: the
  /// host's, or the control group's limit where that is smaller.
  std::uint64_t usable_physical() const noexcept;
};
MemoryLimits memory_limits(const std::string& root = "");

/// "1.5 GiB": a size as messages show it, exact when it is a whole number of its unit.
std::string format_bytes(std::uint64_t bytes);

/// "1 process", "2 processes".
std::string format_processes(std::uint64_t count);

}  // namespace gex::os
