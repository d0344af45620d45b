// Ranks killed in the middle of communication.

#include <signal.h>

#include <cstdlib>

#include "../launch/own_files.h"
#include "lifecycle.h"

namespace lifecycle_test {
namespace {

class Killed : public OverEveryNetwork {};
LIFECYCLE_TEST_OVER_EVERY_NETWORK(Killed);

/// Process ids of the ranks, from the probe's "flooding PID" lines.
std::vector<pid_t> ranks_in(const std::string& output) {
  std::vector<pid_t> ranks;
  const std::string word = "flooding ";
  for (std::size_t at = output.find(word); at != output.npos; at = output.find(word, at + 1))
    ranks.push_back(static_cast<pid_t>(std::atoi(output.c_str() + at + word.size())));
  return ranks;
}

TEST_P(Killed, ARankWhileAllFloodEachOtherIsNamed) {
  Command command = job(4, {"flood"});
  const auto running = over(command, GetParam()).start();
  ASSERT_TRUE(running->wait_for("flooding ", 4));
  const std::vector<pid_t> ranks = ranks_in(running->output());
  ASSERT_EQ(ranks.size(), 4U);
  ASSERT_EQ(kill(ranks[1], SIGKILL), 0);
  const Outcome outcome = running->finish();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 137) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "was killed by signal 9"), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "pid " + std::to_string(ranks[1])), 1) << outcome.error;
}

TEST_P(Killed, TwoRanksAtOnce) {
  Command command = job(3, {"flood"});
  const auto running = over(command, GetParam()).start();
  ASSERT_TRUE(running->wait_for("flooding ", 3));
  const std::vector<pid_t> ranks = ranks_in(running->output());
  ASSERT_EQ(ranks.size(), 3U);
  kill(ranks[0], SIGKILL);
  kill(ranks[2], SIGKILL);
  const Outcome outcome = running->finish();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 137) << outcome.error;
}

TEST_P(Killed, TheLauncherTakesEverythingAlong) {
  Command command = job(3, {"flood"});
  const auto running = over(command, GetParam()).start();
  ASSERT_TRUE(running->wait_for("flooding ", 3));
  kill(running->process(), SIGKILL);
  EXPECT_TRUE(running->wait_until_all_gone());
  EXPECT_EQ(launch_test::files_left_behind(), std::vector<std::string>());
}

TEST_P(Killed, ARankOfAForkedJobIsNamed) {
  Command command = forked_job(3, {"flood"});
  const auto running = over(command, GetParam()).start();
  ASSERT_TRUE(running->wait_for("flooding ", 3));
  const std::vector<pid_t> ranks = ranks_in(running->output());
  ASSERT_EQ(ranks.size(), 3U);
  ASSERT_EQ(kill(ranks[1], SIGKILL), 0);
  const Outcome outcome = running->finish();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 137) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "pid " + std::to_string(ranks[1])), 1) << outcome.error;
}

TEST_P(Killed, TheOriginalProcessOfAForkedJobTakesEverythingAlong) {
  Command command = forked_job(3, {"flood"});
  const auto running = over(command, GetParam()).start();
  ASSERT_TRUE(running->wait_for("flooding ", 3));
  kill(running->process(), SIGKILL);
  EXPECT_TRUE(running->wait_until_all_gone());
  EXPECT_EQ(launch_test::files_left_behind(), std::vector<std::string>());
}

#ifdef LIFECYCLE_TEST_OFI
// What a connection takes with it is found out, whichever rank waits for it.
TEST(BrokenConnections, EndTheJobOrTakeNothingWithThem) {
  // In a network of their own, where no others' connections are.
  const std::string prepare = "ip link set lo up && exec \"$0\" \"$@\"";
  if (Command({"unshare", "-n", "sh", "-c", prepare, "ss", "-K", "state", "established"})
          .run()
          .status != 0) {
    GTEST_SKIP() << "no network of one's own, or no way to break its connections";
  }
  int broken = 0;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = Command({"unshare", "-n", "sh", "-c", prepare, gexrun, "-n", "2", probe,
                                     "break_connections"})
                                .variable("GEX_CONDUIT", "ofi")
                                .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                                .run();
    expect_nothing_left(outcome);
    if (outcome.status == 0) {
      EXPECT_EQ(lines_with(outcome.output, "all came"), 2) << outcome.output;
      continue;
    }
    ++broken;
    EXPECT_EQ(outcome.status, 1) << outcome.output << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ": ofi: "), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
  }
  EXPECT_GT(broken, 0);
}
#endif

}  // namespace
}  // namespace lifecycle_test
