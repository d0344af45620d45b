#include "boot/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <semaphore>
#include <thread>

namespace gex::boot {
namespace {

/// A child that calls a function and then waits to be killed.
template <typename Work>
pid_t start_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    for (;;) pause();
  }
  return child;
}

TEST(ProcessTree, ChildrenAreSeenUntilReaped) {
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

TEST(ProcessTree, DescendantsAreKilledHoweverDeepAndTheSparedAreNot) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t spared = start_child([] {});
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t doomed = start_child([&told] {
    signal(SIGTERM, SIG_IGN);
    for (int depth = 0; depth < 4; ++depth) {
      if (fork() != 0) break;
      setsid();
    }
    if (write(told[1], "x", 1) != 1) _exit(1);
  });
  char byte;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(read(told[0], &byte, 1), 1);
  close(told[1]);
  std::vector<pid_t> reaped;
  kill_descendants({spared}, [&reaped](pid_t process, int status) {
    reaped.push_back(process);
    EXPECT_TRUE(WIFSIGNALED(status));
  });
  EXPECT_EQ(reaped.size(), 5u);
  EXPECT_EQ(reaped.front(), doomed);
  // The last writer of the pipe has ended with them.
  EXPECT_EQ(read(told[0], &byte, 1), 0);
  close(told[0]);
  EXPECT_EQ(kill(spared, 0), 0);
  kill(spared, SIGKILL);
  waitpid(spared, nullptr, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ProcessTree, CaughtSignalsAreTold) {
  const auto before = signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, SIG_IGN);
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, SIG_DFL);
  EXPECT_FALSE(catches_signal(getpid(), SIGUSR2));
  signal(SIGUSR2, before);
}

TEST(ProcessTree, ThreadsAreCounted) {
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

TEST(ProcessTree, ProcessesHaveNames) {
  char name[16] = {};
  ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
  EXPECT_EQ(process_name(getpid()), name);
  EXPECT_EQ(process_name(-1), "");
}

TEST(ProcessTree, SignalsHaveNames) {
  EXPECT_EQ(describe_signal(SIGKILL), "signal 9 (Killed)");
  EXPECT_EQ(describe_signal(SIGSEGV), "signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace gex::boot
