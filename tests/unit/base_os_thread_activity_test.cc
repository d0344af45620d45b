// The activity of a thread in /proc, and whether a signal would disturb it.

#include "base/os_thread_activity.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace gex::os {
namespace {

/// A child process that does something until the end of its life here.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : process_(fork()) {
    if (process_ == 0) {
      for (;;) work();
    }
  }
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }
  /// Runs once it is in that state.
  ThreadActivity in_state(char state) const {
    for (;;) {
      const auto activity = thread_activity(process_, process_);
      if (activity && activity->state == state) return *activity;
    }
  }

 private:
  pid_t process_;
};

TEST(ThreadActivity, ASleepDoesNotBearASignal) {
  const Child child([] { sleep(3600); });
  const ThreadActivity activity = child.in_state('S');
  EXPECT_FALSE(bears_signals(child.process(), activity));
  if (!activity.call) GTEST_SKIP() << "the system does not show calls of other processes";
  EXPECT_EQ(name_of(*activity.call), "clock_nanosleep");
}

TEST(ThreadActivity, AReadOfAPipeBearsASignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Child child([&] {
    char byte = 0;
    static_cast<void>(read(ends[0], &byte, 1) == 1);
  });
  const ThreadActivity activity = child.in_state('S');
  if (!activity.call) GTEST_SKIP() << "the system does not show calls of other processes";
  EXPECT_EQ(name_of(*activity.call), "read");
  EXPECT_TRUE(bears_signals(child.process(), activity));
  close(ends[0]);
  close(ends[1]);
}

TEST(ThreadActivity, WhatRunsBearsASignalAndWhatIsStoppedDoesNot) {
  const Child child([] {});
  EXPECT_TRUE(bears_signals(child.process(), child.in_state('R')));
  kill(child.process(), SIGSTOP);
  EXPECT_FALSE(bears_signals(child.process(), child.in_state('T')));
}

TEST(ThreadActivity, AWaitForALockBearsASignalUnlessItHasATimeLimit) {
  const Child child([] {});
  // FUTEX_WAIT of a private word.
  ThreadActivity activity{'S', SystemCall{SYS_futex, {0x1000, 128, 0, 0, 0, 0}}};
  EXPECT_TRUE(bears_signals(child.process(), activity));
  activity.call->arguments[3] = 0x2000;
  EXPECT_FALSE(bears_signals(child.process(), activity));
  EXPECT_FALSE(bears_signals(child.process(), {'S', {}})) << "not known";
}

TEST(ThreadActivity, IsEmptyOfAThreadThatIsNotThere) {
  EXPECT_FALSE(thread_activity(getpid(), 1));
}

}  // namespace
}  // namespace gex::os
