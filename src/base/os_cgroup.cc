#include "base/os_cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace gex::os {
namespace {

/// A mounted hierarchy: which controllers it has ("" in `controllers` for version 2, which has
/// them all), which group is mounted and where.
struct Mount {
  bool unified;
  std::string controllers;
  std::string group;
  std::string directory;
};

/// Returns true if a comma-separated list holds a word.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// mountinfo writes blanks and backslashes in paths as three octal digits.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The hierarchies of /proc/self/mountinfo. A line is: id parent device root mount-point options
/// optional-fields... "-" type source super-options.
std::vector<Mount> mounts(const std::string& root) {
  std::vector<Mount> found;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, group, directory, options, field;
    fields >> id >> parent >> device >> group >> directory >> options;
    while (fields >> field && field != "-") {
    }
    std::string type, source, super_options;
    fields >> type >> source >> super_options;
    if (type != "cgroup" && type != "cgroup2") continue;
    found.push_back({type == "cgroup2", super_options, unescape(group), unescape(directory)});
  }
  return found;
}

/// The groups that this process is in. Reads /proc/self/cgroup once: each time the kernel formats
/// it anew, and a rank that starts asks for up to four hierarchies.
class OwnGroups {
 public:
  explicit OwnGroups(const std::string& root) {
    std::ifstream file(root + "/proc/self/cgroup");
    // A line is number:controllers:path, with the path last as it may hold colons.
    for (std::string line; std::getline(file, line);) {
      const std::size_t first = line.find(':');
      const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
      if (second == std::string::npos) continue;
      all_.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
  }

  /// The group in the hierarchy with this controller ("" for version 2); null: there is none.
  const std::string* of(std::string_view controller) const {
    for (const Group& group : all_)
      if (controller.empty() ? group.controllers.empty() : lists(group.controllers, controller))
        return &group.path;
    return nullptr;
  }

 private:
  struct Group {
    std::string controllers;
    std::string path;
  };
  std::vector<Group> all_;
};

/// The directories of a group and of every visible group above it, the group's own first.
std::vector<std::string> directories(const std::string& root, const Mount& mount,
                                     const std::string& group) {
  const std::string top = root + mount.directory;
  // The mount may show a part of the tree only: what is below the mounted group keeps its path. A
  // group outside it (an older container without a cgroup namespace) is seen as the mount itself.
  const std::string base = mount.group == "/" ? "" : mount.group;
  std::string below;
  const bool inside = group.compare(0, base.size(), base) == 0 &&
                      (group.size() == base.size() || group[base.size()] == '/');
  if (inside) below = group.substr(base.size());
  if (below.find("/..") != std::string::npos) below.clear();

  std::vector<std::string> path;
  while (!below.empty() && below != "/") {
    path.push_back(top + below);
    below.erase(below.rfind('/'));
  }
  path.push_back(top);
  return path;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// A whole number of bytes or microseconds; none for "max", "-1", nothing and what is no number.
std::optional<std::uint64_t> number(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t value = 0;
  if (!(stream >> value) || value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

template <class T>
void lower(std::optional<T>& limit, std::optional<T> other) {
  if (other) limit = limit ? std::min(*limit, *other) : *other;
}

std::optional<double> share(std::optional<std::uint64_t> quota,
                            std::optional<std::uint64_t> period) {
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void lower_memory(CgroupLimits& limits, std::optional<std::uint64_t> bytes, const char* setting) {
  if (!bytes || (limits.memory && *limits.memory <= *bytes)) return;
  limits.memory = bytes;
  limits.memory_setting = setting;
}

void lower_hard_memory(CgroupLimits& limits, std::optional<std::uint64_t> bytes,
                       const char* setting) {
  lower_memory(limits, bytes, setting);
  if (!bytes || (limits.hard_memory && *limits.hard_memory <= *bytes)) return;
  limits.hard_memory = bytes;
  limits.hard_memory_setting = setting;
}

void read_tasks(const std::string& directory, CgroupLimits& limits) {
  lower(limits.tasks, number(first_line(directory + "/pids.max")));
}

void read_unified(const std::string& directory, CgroupLimits& limits) {
  lower_hard_memory(limits, number(first_line(directory + "/memory.max")), "memory.max");
  // The kernel makes a group that uses more so slow that it hardly runs.
  lower_memory(limits, number(first_line(directory + "/memory.high")), "memory.high");
  read_tasks(directory, limits);
  std::istringstream cpu(first_line(directory + "/cpu.max"));
  std::string quota, period;
  cpu >> quota >> period;
  lower(limits.cpus, share(number(quota), number(period)));
}

void read_memory(const std::string& directory, CgroupLimits& limits) {
  // Version 1 has no word for "unlimited": it shows the largest multiple of the page size.
  constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;
  const auto bytes = number(first_line(directory + "/memory.limit_in_bytes"));
  if (bytes && *bytes < unlimited) lower_hard_memory(limits, bytes, "memory.limit_in_bytes");
}

void read_cpu(const std::string& directory, CgroupLimits& limits) {
  lower(limits.cpus, share(number(first_line(directory + "/cpu.cfs_quota_us")),
                           number(first_line(directory + "/cpu.cfs_period_us"))));
}

/// The value behind a word of a file of lines "word value".
std::optional<std::uint64_t> value_of(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string name, value; file >> name >> value;)
    if (name == word) return number(value);
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> cgroup_memory_kills(const std::string& root) {
  const OwnGroups groups(root);
  for (const Mount& mount : mounts(root)) {
    if (!mount.unified && !lists(mount.controllers, "memory")) continue;
    const std::string* const group = groups.of(mount.unified ? "" : "memory");
    if (group == nullptr) continue;
    const std::string own = directories(root, mount, *group).front();
    const char* const file = mount.unified ? "/memory.events" : "/memory.oom_control";
    if (const auto kills = value_of(own + file, "oom_kill")) return kills;
  }
  return std::nullopt;
}

CgroupLimits cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const OwnGroups groups(root);
  const auto apply = [&](const Mount& mount, std::string_view controller, auto read) {
    const std::string* const group = groups.of(controller);
    if (group == nullptr) return;
    for (const std::string& directory : directories(root, mount, *group)) read(directory, limits);
  };
  for (const Mount& mount : mounts(root)) {
    if (mount.unified) {
      apply(mount, "", read_unified);
    } else {
      if (lists(mount.controllers, "memory")) apply(mount, "memory", read_memory);
      if (lists(mount.controllers, "cpu")) apply(mount, "cpu", read_cpu);
      if (lists(mount.controllers, "pids")) apply(mount, "pids", read_tasks);
    }
  }
  return limits;
}

}  // namespace gex::os
