// The end of jobs by exits of ranks, and its status.

#include <signal.h>

#include "modes.h"

namespace launch_test {
namespace {

/// Jobs with a minimal grace period, unless that is the subject of the test.
class Exit : public AllModes {
 protected:
  Command job(int ranks, std::vector<std::string> scenario) const {
    return AllModes::job(ranks, std::move(scenario)).variable("GEX_EXIT_GRACE", "0.05");
  }
  /// Longer than any test waits.
  Command job_with_time(int ranks, std::vector<std::string> scenario) const {
    return AllModes::job(ranks, std::move(scenario)).variable("GEX_EXIT_GRACE", "1000");
  }
};
LAUNCH_TEST_IN_ALL_MODES(Exit);

TEST_P(Exit, EndFromMain) {
  for (const char* const rank : {"0", "2"}) {
    const Outcome outcome = job(3, {"end-from-main", "3", rank}).run();
    expect_failure(outcome, 3, "");
    EXPECT_EQ(outcome.output, "final output\n");
  }
}

// Output of the others may be missing, which a status of 0 would hide.
constexpr char ended_by_success[] = ") called gasnet_exit(0); ranks 0,2 had not exited 3 s later";

TEST_P(Exit, EndWithZeroIsSuccess) {
  expect_failure(job(3, {"end-from-main", "0", "1"}).run(), 0, ended_by_success);
}

// Daemons ignore SIGCHLD, and the programs that they start inherit that.
TEST_P(Exit, UnderAParentThatIgnoresItsChildren) {
  const auto ignored = [this](std::vector<std::string> scenario) {
    signal(SIGCHLD, SIG_IGN);
    const auto running = job(3, std::move(scenario)).start();
    signal(SIGCHLD, SIG_DFL);
    return running->finish();
  };
  expect_failure(ignored({"end-from-main", "0", "1"}), 0, ended_by_success);
  expect_failure(ignored({"end-from-main", "3", "1"}), 3, "");
}

TEST(ExitUnderGexrun, RanksIgnoreTheirChildrenAsTheLauncherDid) {
  signal(SIGCHLD, SIG_IGN);
  const auto running =
      Command({gexrun, "-n", "2", "grep", "^SigIgn:.*[13579bdf]....$", "/proc/self/status"})
          .start();
  signal(SIGCHLD, SIG_DFL);
  const Outcome outcome = running->finish();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "SigIgn"), 2) << outcome.output;
}

TEST_P(Exit, EndFromSignalHandler) {
  const Outcome outcome = job(3, {"end-from-signal-handler"}).run();
  expect_failure(outcome, 7, "");
  EXPECT_EQ(outcome.output, "buffered words\n");
}

TEST_P(Exit, OneOfManyCodesWins) {
  const Outcome outcome = job(8, {"end-all-at-once"}).run();
  expect_failure(outcome, outcome.status, "");
  EXPECT_GE(outcome.status, 10);
  EXPECT_LT(outcome.status, 18);
}

TEST_P(Exit, EndFromTwoThreadsAtOnce) {
  const Outcome outcome = job(3, {"end-from-two-threads"}).run();
  expect_failure(outcome, 6, "");
  // A rank may be ended before it prints, but must not print twice.
  EXPECT_GE(lines_with(outcome.output, "once"), 1) << outcome.output;
  EXPECT_LE(lines_with(outcome.output, "once"), 3) << outcome.output;
}

// Programs end with a barrier and gasnet_exit(0): the first one out must not end the others early.
TEST_P(Exit, EndWithSuccessLetsTheOthersComeToTheirEnd) {
  const Outcome outcome = job(3, {"end-one-after-another", "0"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "done"), 3) << outcome.output;
}

TEST_P(Exit, AFailureAfterASuccessIsTheStatus) {
  const Outcome outcome = job(3, {"end-one-after-another", "3"}).run();
  expect_failure(outcome, 3, "");
  EXPECT_EQ(lines_with(outcome.output, "done"), 3) << outcome.output;
}

TEST_P(Exit, EndWithSuccessEndsThoseWhoNeverComeToTheirEnd) {
  expect_failure(job(3, {"end-alone", "0", "polling"}).run(), 0, ") called gasnet_exit(0); rank");
}

// The last rank has the reason to print, and polls meanwhile.
TEST_P(Exit, AFailureLetsTheOthersComeToTheirEndWithoutASignal) {
  const std::vector<std::pair<const char*, std::string>> ways = {
      {"by-end", ""}, {"by-exit", ") returned 4 from main or called exit(4)"}};
  for (const auto& [way, message] : ways) {
    const Outcome outcome = job_with_time(3, {"fail-together", way}).run();
    expect_failure(outcome, 4, message);
    EXPECT_EQ(outcome.output, "the reason\n") << way;
  }
}

TEST_P(Exit, WhoDoesNotComeWithinTheGraceIsEnded) {
  for (const char* const others : {"polling", "computing"}) {
    expect_failure(job(3, {"end-alone", "6", others}).run(), 6, "");
  }
}

TEST_P(Exit, WithoutAGraceAFailureEndsTheOthersAtOnce) {
  expect_failure(job(3, {"end-alone", "6", "polling"}).variable("GEX_EXIT_GRACE", "0").run(), 6,
                 "");
}

TEST_P(Exit, ACodeOfZerosInItsLastEightBitsIsAFailure) {
  expect_failure(job(3, {"end-alone", "256", "polling"}).run(), 1, "");
  expect_failure(job(1, {"end-alone", "512", "polling"}).run(), 1, "");
}

TEST_P(Exit, ADeathWithinTheGraceEndsTheJobAndIsNamed) {
  const Outcome outcome = job_with_time(3, {"die-after-an-end"}).run();
  expect_failure(outcome, 139, "was killed by signal 11");
  EXPECT_EQ(lines_with(outcome.error, message_prefix() + "rank 2 (host "), 1) << outcome.error;
}

TEST_P(Exit, AnInterruptDoesNotWaitForTheGrace) {
  const auto running = job_with_time(3, {"end-alone", "6", "waiting"}).start();
  ASSERT_TRUE(running->wait_for("waits", 2)) << running->output();
  kill(running->process(), SIGTERM);
  expect_failure(running->finish(), 143, "ended by signal 15");
}

TEST_P(Exit, WhatOtherThreadsOfARankThatEndsDoIsNoError) {
  expect_failure(job_with_time(2, {"end-beside-barrier"}).run(), 6, "");
}

TEST_P(Exit, ARankThatHasReturnedCanEndTheJob) {
  expect_failure(job(3, {"return-and-end"}).run(), 7, "");
}

TEST_P(Exit, AMalformedGraceIsRefused) {
  const Outcome outcome = job(2, {"who"}).variable("GEX_EXIT_GRACE", "soon").run();
  expect_failure(outcome, 1, "GEX_EXIT_GRACE='soon' is not understood");
  EXPECT_EQ(outcome.output, "");
}

TEST_P(Exit, EndWhileOthersWaitInACollectiveCall) {
  expect_failure(job(3, {"end-during-barrier"}).run(), 8, "");
}

TEST_P(Exit, EndWhileOthersCompute) {
  expect_failure(job(2, {"end-during-computation"}).run(), 5, "");
}

TEST_P(Exit, ClientsHandlerOfQuitRunsOnceOnEachOtherRank) {
  for (const char* const others : {"polling", "computing"}) {
    const Outcome outcome = job(3, {"end-with-quit-handler", others}).run();
    expect_failure(outcome, 5, "");
    EXPECT_EQ(lines_with(outcome.output, "tidied up"), 2) << others << outcome.output;
  }
}

TEST_P(Exit, EndDoesNotWaitForAStreamThatIsStuck) {
  expect_failure(job(2, {"end-with-stuck-stream"}).run(), 4, "");
}

TEST_P(Exit, ARankThatReturnsEarlyGoesOnAnswering) {
  const Outcome outcome = job(3, {"return-early"}).run();
  expect_success(outcome);
  // One of the two hosts has two ranks.
  EXPECT_EQ(lines_with(outcome.output, "answered"), on_hosts(GetParam()) ? 1 : 2);
}

TEST_P(Exit, WhoDoesNotReturnIsNamed) {
  const Outcome outcome = job(3, {"return-alone", "1"}).variable("GEX_EXIT_TIMEOUT", "0.2").run();
  expect_failure(outcome, 1,
                 message_prefix() +
                     "rank 1 returned from main or called exit(0), ranks 0,2 did not "
                     "within 0.2 s (GEX_EXIT_TIMEOUT)");
}

TEST_P(Exit, AMalformedExitTimeoutIsRefused) {
  const Outcome outcome = job(2, {"who"}).variable("GEX_EXIT_TIMEOUT", "soon").run();
  expect_failure(outcome, 1, "GEX_EXIT_TIMEOUT");
  EXPECT_EQ(outcome.output, "");
}

TEST_P(Exit, WhoReturnsBeforeACollectiveCallIsNamed) {
  const Outcome outcome = job(3, {"return-before-barrier", "2"}).run();
  expect_failure(outcome, 1, "while a collective call waits for it in ranks 0,1");
  EXPECT_EQ(lines_with(outcome.error, message_prefix() + "rank 2 (host "), 1) << outcome.error;
}

TEST_P(Exit, ExitWithAStatusEndsTheJobWithIt) {
  expect_failure(job(3, {"exit-with", "3", "1"}).run(), 3,
                 ") returned 3 from main or called exit(3)");
}

TEST_P(Exit, LeavingByUnderscoreExitIsADeath) {
  expect_failure(job(3, {"exit-at-once", "0", "1"}).run(), 1,
                 "ended with status 0 without leaving the job");
  expect_failure(job(3, {"exit-at-once", "4", "1"}).run(), 4,
                 "ended with status 4 without leaving the job");
}

TEST_P(Exit, ADeathBySignalIsNamed) {
  const Outcome killed = job(3, {"die", "9", "1"}).run();
  expect_failure(killed, 137, "was killed by signal 9 (Killed)");
  EXPECT_EQ(lines_with(killed.error, message_prefix() + "rank 1 (host "), 1) << killed.error;
  EXPECT_EQ(lines_with(killed.error, ", pid "), 1) << killed.error;
  const Outcome aborted = job(3, {"die", "6", "0"}).run();
  expect_failure(aborted, 134, "was killed by signal 6 (Aborted)");
}

TEST_P(Exit, AFatalErrorIsOneLineAndEndsTheJob) {
  const Outcome outcome = job(3, {"fail"}).run();
  expect_failure(outcome, 1, "gex: rank 1: this went wrong");
}

TEST_P(Exit, ChildrenOfTheClientDoNotEndTheJob) {
  const Outcome outcome = job(3, {"fork-children"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "unharmed"), 3);
}

TEST_P(Exit, AProgramThatARankRunsIsAJobOfItsOwn) {
  const Outcome outcome = job(2, {"execute-other"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "rank 0 of 1 singleton"), 2);
}

TEST_P(Exit, ARankThatBecomesAnotherProgramIsNamed) {
  const Outcome outcome = job(2, {"become-other"}).run();
  expect_failure(outcome, 1, "has closed its connection to the job without leaving it");
}

TEST_P(Exit, DaemonsOfRanksAreEndedWithTheJob) {
  expect_success(job(2, {"stay-with-daemon", "and-return"}).run());
}

TEST(ExitUnderGexrun, AProgramThatIsNotOursSucceeds) {
  const Outcome outcome = Command({gexrun, "-n", "4", "echo", "here"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "here\nhere\nhere\nhere\n");
}

TEST(ExitUnderGexrun, AProgramThatIsNotOursFails) {
  const Outcome outcome = Command({gexrun, "-n", "2", "sh", "-c", "exit 5"}).run();
  expect_failure(outcome, 5, "ended with status 5 before it had joined the job");
}

TEST(ExitUnderGexrun, ARankThatEndsBeforeItJoins) {
  const Outcome failed = job(Mode::gexrun, 3, {"exit-before-joining", "6", "1"}).run();
  expect_failure(failed, 6, "ended with status 6 before it had joined the job");
  const Outcome returned = job(Mode::gexrun, 3, {"exit-before-joining", "0", "1"}).run();
  expect_failure(returned, 1, "ended with status 0 and never joined the job of rank");
}

}  // namespace
}  // namespace launch_test
