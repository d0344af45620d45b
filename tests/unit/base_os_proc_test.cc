#include "base/os_proc.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <semaphore>
#include <thread>

#include "waiting_child.h"

namespace gex::os {
namespace {

TEST(OsProc, ChildrenAreSeenUntilReaped) {
  const pid_t child = start_child([] {});
  const auto is_seen = [child] {
    const auto all = children();
    return std::find(all.begin(), all.end(), child) != all.end();
  };
  EXPECT_TRUE(is_seen());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_seen());
}

TEST(OsProc, CaughtSignalsAreReported) {
  const auto before = signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, SIG_IGN);
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, SIG_DFL);
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, before);
}

TEST(OsProc, ThreadsAreCounted) {
  std::counting_semaphore done(0);
  // ThreadSanitizer starts a thread of its own when the program starts its first.
  std::thread first([&done] { done.acquire(); });
  const int before = other_threads().value();
  std::thread second([&done] { done.acquire(); });
  EXPECT_EQ(other_threads(), before + 1);
  done.release(2);
  first.join();
  second.join();
}

TEST(OsProc, ProcessesHaveNames) {
  char name[16] = {};
  ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
  EXPECT_EQ(process_name(getpid()), name);
  EXPECT_EQ(process_name(-1), "");
}

}  // namespace
}  // namespace gex::os
