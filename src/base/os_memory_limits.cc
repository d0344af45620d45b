#include "base/os_memory_limits.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/os_cgroup.h"

namespace gex::os {
namespace {

/// A line of /proc/meminfo, "Name:   12345 kB", in bytes.
std::optional<std::uint64_t> meminfo(const std::string& root, const std::string& name) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 1, name + ":") != 0) continue;
    std::istringstream value(line.substr(name.size() + 1));
    std::uint64_t kibibytes = 0;
    if (value >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> limit(__rlimit_resource resource) noexcept {
  rlimit value;
  if (::getrlimit(resource, &value) != 0 || value.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return value.rlim_cur;
}

}  // namespace

std::uint64_t physical_memory(const std::string& root) {
  if (const auto bytes = meminfo(root, "MemTotal")) return *bytes;
  // Without /proc the kernel can still be asked for the whole host.
  struct sysinfo host {};
  if (!root.empty() || ::sysinfo(&host) != 0) return 0;
  return std::uint64_t{host.totalram} * host.mem_unit;
}

std::uint64_t available_memory(const std::string& root) {
  if (const auto bytes = meminfo(root, "MemAvailable")) return *bytes;
  return physical_memory(root);
}

std::optional<std::uint64_t> address_space_limit() noexcept {
  return limit(RLIMIT_AS);
}

std::optional<std::uint64_t> file_size_limit() noexcept {
  return limit(RLIMIT_FSIZE);
}

std::uint64_t MemoryLimits::usable_physical() const noexcept {
  if (!cgroup) return physical;
  return physical == 0 ? *cgroup : std::min(physical, *cgroup);
}

MemoryLimits memory_limits(const std::string& root) {
  const CgroupLimits cgroup = cgroup_limits(root);
  return {.physical = physical_memory(root),
          .available = available_memory(root),
          .cgroup = cgroup.memory,
          .cgroup_setting = cgroup.memory_setting,
          .address_space = address_space_limit(),
          .file_size = file_size_limit()};
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) && (bytes >> (10 * (unit + 1))) != 0) ++unit;
  const double value =
      static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << (10 * unit));
  const bool whole = (bytes & ((std::uint64_t{1} << (10 * unit)) - 1)) == 0;
  char text[48];
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

std::string format_processes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " process" : " processes");
}

}  // namespace gex::os
