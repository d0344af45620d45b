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

}  // namespace
}  // namespace lifecycle_test
