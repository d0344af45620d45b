// Every end a job of libgex clients can come to.

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

/// Jobs in which the others are given hardly any time to come to their own end.
class Exit : public OverEveryNetwork {
 protected:
  Outcome run(int ranks, std::vector<std::string> scenario) const {
    Command command = job(ranks, std::move(scenario));
    return over(command, GetParam()).variable("GEX_EXIT_GRACE", "0.05").run();
  }
};
LIFECYCLE_TEST_OVER_EVERY_NETWORK(Exit);

/// Ended with `status` in silence.
void expect_status(const Outcome& outcome, int status) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, status) << outcome.output << outcome.error;
  EXPECT_EQ(outcome.error, "");
}

/// As above, with status 0, and one line reports that it ended others.
void expect_others_ended(const Outcome& outcome) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0) << outcome.output << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, ") called gasnet_exit(0); rank"), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
}

TEST_P(Exit, FromMainWhileTheOthersWait) {
  expect_status(run(3, {"exit_from_main", "1", "7"}), 7);
  expect_others_ended(run(3, {"exit_from_main", "0", "0"}));
  expect_status(run(1, {"exit_from_main", "0", "255"}), 255);
}

TEST_P(Exit, FromAHandler) {
  expect_status(run(3, {"exit_from_handler", "2", "8"}), 8);
}

// No handler runs any more in who has ended the job, who may hold what it needs.
TEST_P(Exit, WithSuccessFromAHandlerOrUnderALock) {
  expect_others_ended(run(3, {"exit_from_handler", "2", "0"}));
  expect_others_ended(run(3, {"exit_holding_lock"}));
}

TEST_P(Exit, FromASignalHandlerInsideTheLibrary) {
  expect_status(run(3, {"exit_from_signal_handler", "1", "9"}), 9);
}

// The last to come has the reason to print, and polls meanwhile.
TEST_P(Exit, OfAllRanksLosesNoOutputAndSendsNoSignal) {
  Command command = job(4, {"exit_together"});
  const Outcome outcome = over(command, GetParam()).variable("GEX_EXIT_GRACE", "1000").run();
  expect_status(outcome, 1);
  EXPECT_EQ(outcome.output, "the reason\n");
}

TEST_P(Exit, FromTwoRanksWithDifferentCodesOneWins) {
  const Outcome outcome = run(3, {"exit_from_two_ranks", "11", "12"});
  expect_nothing_left(outcome);
  EXPECT_TRUE(outcome.status == 11 || outcome.status == 12) << outcome.status;
  EXPECT_EQ(outcome.error, "");
}

TEST_P(Exit, FromTwoThreadsOneWins) {
  const Outcome outcome = run(2, {"exit_from_two_threads", "13", "14"});
  expect_nothing_left(outcome);
  EXPECT_TRUE(outcome.status == 13 || outcome.status == 14) << outcome.status;
  EXPECT_EQ(outcome.error, "");
}

TEST_P(Exit, ARankThatReturnedServesTheOthersUntilTheyReturn) {
  expect_success(run(3, {"return_early", "1"}), "served", 2);
  expect_success(run(3, {"return_early", "0"}), "served", 2);
}

TEST_P(Exit, ARankThatReturnsWhileTheOthersWaitForItIsAFailureWithAName) {
  Command command = job(2, {"return_while_others_wait", "1"});
  const Outcome outcome = over(command, GetParam()).variable("GEX_EXIT_TIMEOUT", "0.2").run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(
      lines_with(outcome.error, "rank 1 returned from main or called exit(0), rank 0 did not"), 1)
      << outcome.error;
}

TEST_P(Exit, ByExitWithAStatusOnOneRank) {
  expect_refusal(run(3, {"call_exit", "2", "3"}), 3, ") returned 3 from main or called exit(3)");
}

TEST_P(Exit, ChildrenOfARankDoNotEndTheJob) {
  expect_success(run(2, {"children", "1"}), "rank ", 2);
}

TEST_P(Exit, AnotherProgramRunByARankIsAJobOfItsOwn) {
  const Outcome outcome = run(2, {"run_another", "0"});
  expect_success(outcome, "outer rank ", 2);
  EXPECT_EQ(lines_with(outcome.output, "rank 0 of 1"), 1) << outcome.output;
}

TEST_P(Exit, ADeathBySignalIsNamed) {
  const Outcome outcome = run(3, {"die_of_signal", "2", "11"});
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 139);
  EXPECT_EQ(lines_with(outcome.error, "rank 2 (host "), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "was killed by signal 11"), 1) << outcome.error;
}

// Jobs that fork themselves.

TEST(Forked, TheOriginalProcessReturnsTheJobsStatus) {
  expect_success(forked_job(3, {"ring"}).run(), "rank ", 3);
  expect_status(
      forked_job(3, {"exit_from_main", "2", "7"}).variable("GEX_EXIT_GRACE", "0.05").run(), 7);
  expect_refusal(forked_job(3, {"call_exit", "1", "4"}).run(), 4,
                 ") returned 4 from main or called exit(4)");
}

TEST(Forked, BufferedOutputIsNotDoubled) {
  // Standard output is a pipe here, so "before" is still in the buffer when the ranks are forked.
  const Outcome outcome = forked_job(4, {"buffered"}).run();
  expect_success(outcome, "before", 1);
  EXPECT_EQ(lines_with(outcome.output, "after "), 4) << outcome.output;
}

TEST(Forked, StartsWhereOtherThreadsRun) {
  const Outcome outcome = forked_job(2, {"thread_first"}).run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines_with(outcome.output, "started"), 2) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error, "warning: GASNET_PSHM_NODES=2 forks inside gex_Client_Init"),
            1)
      << outcome.error;
  // Under a launcher there is nothing to fork.
  expect_success(job(2, {"thread_first"}).run(), "started", 2);
}

TEST(Forked, WithoutAnyRequestIsAJobOfOne) {
  const Outcome outcome = Command({probe, "ring"}).run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "rank 0 of 1\n");
}

}  // namespace
}  // namespace lifecycle_test
