#include "base/os_task_limits.h"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "base/os_cgroup.h"

namespace gex::os {

std::string describe_task_error(int error, const std::string& root) {
  std::string text = std::strerror(error);
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
