#include "launch/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waiting_child.h"

namespace gex::launch {
namespace {

TEST(ProcessTree, DescendantsAreKilledHoweverDeepAndTheSparedAreNot) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t spared = start_child([] {});
  int reported[2];
  ASSERT_EQ(pipe(reported), 0);
  const pid_t doomed = start_child([&reported] {
    signal(SIGTERM, SIG_IGN);
    for (int depth = 0; depth < 4; ++depth) {
      if (fork() != 0) break;
      setsid();
    }
    if (write(reported[1], "x", 1) != 1) _exit(1);
  });
  char byte;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(read(reported[0], &byte, 1), 1);
  close(reported[1]);
  std::vector<pid_t> reaped;
  kill_descendants({spared}, [&reaped](pid_t process, int status) {
    reaped.push_back(process);
    EXPECT_TRUE(WIFSIGNALED(status));
  });
  EXPECT_EQ(reaped.size(), 5u);
  EXPECT_EQ(reaped.front(), doomed);
  // The last writer of the pipe has ended with them.
  EXPECT_EQ(read(reported[0], &byte, 1), 0);
  close(reported[0]);
  EXPECT_EQ(kill(spared, 0), 0);
  kill(spared, SIGKILL);
  waitpid(spared, nullptr, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace gex::launch
