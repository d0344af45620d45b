#include "base/os_proc.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/os_file.h"
#include "base/tsan.h"

namespace gex::os {

namespace {

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

Directory open_directory(const char* path) {
  return {opendir(path), closedir};
}

/// Parses the name of a directory entry as a number.
std::optional<pid_t> number_of(const char* name) {
  pid_t number = 0;
  const char* const end = name + std::strlen(name);
  const auto [rest, error] = std::from_chars(name, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// /proc/PID/stat from the state on; the field before it may hold anything in parentheses.
std::optional<std::string> stat_of(pid_t process) {
  const auto stat = read_file("/proc/" + std::to_string(process) + "/stat");
  if (!stat) return std::nullopt;
  const std::size_t after_name = stat->rfind(')');
  if (after_name == std::string::npos || after_name + 4 > stat->size()) return std::nullopt;
  return stat->substr(after_name + 2);
}

std::optional<pid_t> parent_of(pid_t process) {
  const auto stat = stat_of(process);
  if (!stat) return std::nullopt;
  return static_cast<pid_t>(std::atol(stat->c_str() + 2));
}

/// `children` for kernels without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_parent() {
  std::vector<pid_t> found;
  const Directory proc = open_directory("/proc");
  if (!proc) return found;
  const pid_t self = getpid();
  while (const dirent* const entry = readdir(proc.get())) {
    const auto process = number_of(entry->d_name);
    if (process && parent_of(*process) == self) found.push_back(*process);
  }
  return found;
}

}  // namespace

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const Directory tasks = open_directory("/proc/self/task");
  if (!tasks) return found;
  while (const dirent* const entry = readdir(tasks.get())) {
    if (!number_of(entry->d_name)) continue;
    const auto list = read_file(std::string("/proc/self/task/") + entry->d_name + "/children");
    if (!list) return children_by_parent();
    const char* at = list->c_str();
    for (;;) {
      char* end = nullptr;
      const long process = std::strtol(at, &end, 10);
      if (end == at) break;
      found.push_back(static_cast<pid_t>(process));
      at = end;
    }
  }
  return found;
}

std::vector<pid_t> family_in_group(pid_t process, pid_t group) {
  struct Entry {
    pid_t process;
    pid_t parent;
    pid_t group;
  };
  std::vector<Entry> all;
  const Directory proc = open_directory("/proc");
  while (const dirent* const entry = proc ? readdir(proc.get()) : nullptr) {
    const auto number = number_of(entry->d_name);
    const auto stat = number ? stat_of(*number) : std::nullopt;
    Entry found{};
    char state = 0;
    if (stat && std::sscanf(stat->c_str(), "%c %d %d", &state, &found.parent, &found.group) == 3) {
      found.process = *number;
      all.push_back(found);
    }
  }
  std::vector<pid_t> family = {process};
  std::vector<pid_t> in_group = {process};
  for (std::size_t i = 0; i < family.size(); ++i) {
    for (const Entry& entry : all) {
      if (entry.parent != family[i]) continue;
      family.push_back(entry.process);
      if (entry.group == group) in_group.push_back(entry.process);
    }
  }
  return in_group;
}

bool has_parent_in_session() {
  const pid_t group = getpgrp();
  pid_t parent = getppid();
  while (getpgid(parent) == group) {
    const auto next = parent_of(parent);
    if (!next) return true;
    parent = *next;
  }
  return getsid(parent) == getsid(0);
}

std::optional<ProcessActivity> process_activity(pid_t process) {
  const auto stat = stat_of(process);
  if (!stat) return std::nullopt;
  std::istringstream fields(*stat);
  ProcessActivity activity;
  fields >> activity.state;
  // These stand between the state, which is the third, and the times, which are 14 and 15.
  std::string skipped;
  for (int field = 4; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  activity.cpu_s = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return activity;
}

std::optional<double> processor_seconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool catches_signal(pid_t process, int signal) {
  const auto status = read_file("/proc/" + std::to_string(process) + "/status");
  if (!status) return false;
  constexpr std::string_view key = "\nSigCgt:";
  const std::size_t at = status->find(key);
  if (at == std::string::npos) return false;
  const auto caught = std::strtoull(status->c_str() + at + key.size(), nullptr, 16);
  return ((caught >> (signal - 1)) & 1) != 0;
}

std::optional<int> other_threads() {
  const Directory tasks = open_directory("/proc/self/task");
  if (!tasks) return std::nullopt;
  int count = under_tsan ? -2 : -1;
  while (const dirent* const entry = readdir(tasks.get())) {
    if (number_of(entry->d_name)) ++count;
  }
  return std::max(count, 0);
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string process_name(pid_t process) {
  char own[16] = "";
  if (process == getpid() && prctl(PR_GET_NAME, own) == 0) return own;
  auto name = read_file("/proc/" + std::to_string(process) + "/comm");
  if (!name) return {};
  while (!name->empty() && name->back() == '\n') name->pop_back();
  return *name;
}

}  // namespace gex::os
