#include "base/os_task_limits.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "base/os_cgroup.h"

namespace gex::os {

namespace {

/// Returns true if the limit of this process's address space leaves room for the stack of a thread,
/// which is refused with EAGAIN otherwise.
bool has_room_for_stack() {
  constexpr std::size_t usual_stack = std::size_t{8} << 20;
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return true;
  void* const room = ::mmap(nullptr, usual_stack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, usual_stack);
  return true;
}

}  // namespace

std::string describe_task_error(int error, const std::string& root) {
  std::string text = std::strerror(error);
  if ((error == EAGAIN || error == ENOMEM) && !has_room_for_stack()) {
    rlimit space{};
    ::getrlimit(RLIMIT_AS, &space);
    return text + " (address space: at most " + std::to_string(space.rlim_cur >> 20) +
           " MiB of a process, ulimit -v)";
  }
  if (error != EAGAIN) return text;
  std::string limits;
  rlimit user{};
  if (::getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY)
    limits = "at most " + std::to_string(user.rlim_cur) + " of this user, ulimit -u";
  if (const auto tasks = cgroup_limits(root).tasks) {
    limits +=
        (limits.empty() ? "" : "; ") + std::to_string(*tasks) + " in the control group, pids.max";
  }
  if (!limits.empty()) text += " (processes and threads: " + limits + ')';
  return text;
}

}  // namespace gex::os
