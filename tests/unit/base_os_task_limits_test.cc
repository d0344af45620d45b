// The limit for which a process or thread cannot be made.

#include "base/os_task_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

#include "base/os_thread.h"
#include "temporary_folder.h"

namespace gex::os {
namespace {

TEST(TaskError, OfAnotherKindIsItsText) {
  EXPECT_EQ(describe_task_error(ENOMEM), "Cannot allocate memory");
}

TEST(TaskError, OfALimitNamesTheLimits) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/pids.max", "64\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NPROC, &before), 0);
  rlimit less = before;
  less.rlim_cur = 4000;
  ASSERT_EQ(setrlimit(RLIMIT_NPROC, &less), 0);
  const std::string text = describe_task_error(EAGAIN, root.path());
  setrlimit(RLIMIT_NPROC, &before);
  EXPECT_EQ(text,
            "Resource temporarily unavailable (processes and threads: at most 4000 of this user, "
            "ulimit -u; 64 in the control group, pids.max)");
}

TEST(StartThread, RunsItsWork) {
  int done = 0;
  std::thread thread;
  ASSERT_EQ(start_thread(thread, [&done] { done = 1; }), 0);
  thread.join();
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace gex::os
