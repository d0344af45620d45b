// The decisions about a whole job, with guardians that record what they are ordered and a clock
// that the test moves: when and with what status the job ends, and what is printed for the user.

#include "launch/coordinator.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/limits.h"

namespace gex::launch {
namespace {

constexpr std::uint32_t ranks = 3;

Clock::time_point present;

/// Guardians that record the calls.
class RecordedCalls final : public Guardians {
 public:
  void gathered(std::uint32_t sequence, SharedBytes bytes) override {
    exchanges.emplace_back(sequence, bytes->size());
  }
  void absent(std::uint32_t rank, std::uint32_t sequence) override {
    absences.emplace_back(rank, sequence);
  }
  void release(bool finalize) override { releases.push_back(finalize); }
  void end(const job::Ending& asked, Teardown how) override {
    endings.push_back(asked);
    teardown = how;
  }
  void signal(int number) override { signals.push_back(number); }
  void observe(std::uint32_t interval_ms) override { intervals.push_back(interval_ms); }
  void collect(std::uint32_t number, Collection) override { collections.push_back(number); }

  std::vector<std::pair<std::uint32_t, std::size_t>> exchanges;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> absences;
  std::vector<bool> releases;  ///< true if MPI is to be finalized
  std::vector<job::Ending> endings;
  std::optional<Teardown> teardown;
  std::vector<int> signals;
  std::vector<std::uint32_t> intervals;
  std::vector<std::uint32_t> collections;
};

constexpr job::Departure returned{.code = 0, .by_exit = true};
constexpr job::Departure success{.code = 0};
constexpr job::Departure failure(int code) {
  return {.code = code};
}

class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() {
    present = Clock::now();
    launch_.program_name = "run";
    launch_.hosts.add("one", 2);
    launch_.hosts.add("two", ranks - 2);
    launch_.exit_grace = 1;
    launch_.exit_timeout = 30;
    testing::internal::CaptureStderr();
  }
  ~CoordinatorTest() override {
    if (!reported_) testing::internal::GetCapturedStderr();
  }

  void begin() {
    job_.emplace(launch_, calls_, []() noexcept { return present; });
  }
  /// A job whose ranks have all joined, as processes 100, 101 and 102.
  void begin_joined() {
    begin();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) join(rank);
  }
  void join(std::uint32_t rank) { job_->joined(rank, static_cast<pid_t>(100 + rank)); }
  void leave(std::uint32_t rank, const job::Departure& how, std::uint32_t sequence = 0) {
    job_->left(rank, sequence, how);
  }
  void pass(double seconds) {
    present = after(seconds, present);
    job_->meet_deadlines();
  }
  /// The job goes on for `seconds`, and ends `how` at their end.
  void expect_end_after(double seconds, int code, std::uint32_t rank,
                        Teardown how = Teardown::graceful) {
    pass(seconds - 0.01);
    expect_no_end();
    pass(0.02);
    expect_end(code, rank, how);
  }
  void expect_end(int code, std::uint32_t rank, Teardown how = Teardown::graceful) const {
    ASSERT_EQ(calls_.endings.size(), 1u);
    EXPECT_EQ(calls_.endings[0].code, code);
    EXPECT_EQ(calls_.endings[0].rank, rank);
    EXPECT_EQ(calls_.teardown, how);
    EXPECT_EQ(job_->status(), code);
    EXPECT_TRUE(job_->ending());
  }
  void expect_no_end() {
    job_->meet_deadlines();
    EXPECT_TRUE(calls_.endings.empty());
    EXPECT_TRUE(calls_.releases.empty());
  }
  /// The output for the user.
  std::string reported() {
    reported_ = true;
    return testing::internal::GetCapturedStderr();
  }

  Launch launch_;
  RecordedCalls calls_;
  std::optional<JobCoordinator> job_;
  bool reported_ = false;
};

// The end of a job whose ranks leave.

// In time that goes with the number of ranks.
TEST_F(CoordinatorTest, TheLargestJobStartsAndEnds) {
  constexpr std::uint32_t ranks_of_host = 128;
  launch_.hosts = {};
  while (launch_.hosts.ranks() < job::max_ranks) launch_.hosts.add("host", ranks_of_host);
  begin();
  for (std::uint32_t rank = 0; rank < job::max_ranks; ++rank) join(rank);
  for (std::uint32_t rank = 0; rank < job::max_ranks; ++rank) {
    EXPECT_TRUE(calls_.releases.empty());
    leave(rank, returned, 30);
  }
  EXPECT_EQ(calls_.absences.size(), 1u);
  EXPECT_EQ(calls_.releases, std::vector<bool>{true});
  for (std::uint32_t rank = 0; rank < job::max_ranks; ++rank)
    job_->gone(rank, static_cast<pid_t>(100 + rank));
  EXPECT_TRUE(job_->all_gone());
  EXPECT_EQ(job_->status(), 0);
}

TEST_F(CoordinatorTest, TheJobEndsOnceAllHaveLeftWithTheFirstFailure) {
  begin_joined();
  leave(0, success);
  leave(2, failure(5));
  expect_no_end();
  leave(1, failure(7));
  expect_end(5, 2);
  EXPECT_EQ(reported(), "");
}

TEST_F(CoordinatorTest, ARankThatReturnsIsOneOfAllThatHaveLeft) {
  begin_joined();
  leave(0, returned);
  leave(1, {.code = 3, .by_exit = true});
  leave(2, returned);
  expect_end(3, 1);
  EXPECT_EQ(reported(), "run: rank 1 (host one, pid 101) returned 3 from main or called exit(3)\n");
}

TEST_F(CoordinatorTest, ARankThatHasReturnedCanStillEndTheJob) {
  begin_joined();
  leave(0, returned);
  leave(0, failure(6));
  leave(0, failure(8));
  expect_no_end();
  leave(1, returned);
  expect_no_end();
  leave(2, returned);
  expect_end(6, 0);
}

TEST_F(CoordinatorTest, AllAreReleasedOnceWhenTheLastHasLeftWithSuccess) {
  begin_joined();
  leave(0, returned);
  leave(1, success);
  expect_no_end();
  leave(2, returned);
  EXPECT_EQ(calls_.releases, std::vector<bool>{true});
  EXPECT_TRUE(calls_.endings.empty());
  // Nothing is due any more.
  EXPECT_EQ(job_->next_deadline(), Deadline());
  pass(3600);
  EXPECT_TRUE(calls_.endings.empty());
  EXPECT_EQ(job_->status(), 0);
}

TEST_F(CoordinatorTest, MpiIsLeftAloneIfOneRankKeepsIt) {
  begin_joined();
  leave(0, success);
  leave(1, {.code = 0, .stays_open = true});
  leave(2, success);
  EXPECT_EQ(calls_.releases, std::vector<bool>{false});
}

TEST_F(CoordinatorTest, GuardiansGetTheFirstRankThatHasLeftAndItsExchange) {
  begin_joined();
  leave(2, returned, 7);
  leave(0, returned, 8);
  EXPECT_EQ(calls_.absences, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{2, 7}}));
}

TEST_F(CoordinatorTest, TheLastRankToLeaveIsNotAbsent) {
  launch_.hosts = {};
  launch_.hosts.add("one", 1);
  begin();
  join(0);
  leave(0, returned);
  EXPECT_TRUE(calls_.absences.empty());
  EXPECT_EQ(calls_.releases.size(), 1u);
}

TEST_F(CoordinatorTest, OnOneHostAnExchangeIsThatOfTheGuardian) {
  begin_joined();
  job_->contribute(4, job::Exchange::all, std::make_shared<const std::vector<std::byte>>(12));
  EXPECT_EQ(calls_.exchanges, (std::vector<std::pair<std::uint32_t, std::size_t>>{{4, 12}}));
}

// The grace period.

TEST_F(CoordinatorTest, TheGraceBeginsWithTheFirstFailure) {
  begin_joined();
  leave(0, failure(5));
  pass(0.5);
  leave(1, failure(6));
  expect_end_after(0.5, 5, 0);
  EXPECT_EQ(reported(), "");
}

TEST_F(CoordinatorTest, WithoutAGraceAFailureEndsTheJobAtOnce) {
  launch_.exit_grace = 0;
  begin_joined();
  leave(1, failure(5));
  job_->meet_deadlines();
  expect_end(5, 1);
}

TEST_F(CoordinatorTest, ASuccessHasAGraceOfThreeSecondsAtLeastAndItsEndIsExplained) {
  launch_.exit_grace = 0;
  begin_joined();
  leave(0, success);
  expect_end_after(3, 0, 0);
  EXPECT_EQ(reported(),
            "run: rank 0 (host one, pid 100) called gasnet_exit(0); ranks 1,2 had not exited 3 s "
            "later, and the job is ended (GEX_EXIT_GRACE)\n");
}

TEST_F(CoordinatorTest, ASuccessHasALongGraceIfThatIsAskedFor) {
  launch_.exit_grace = 100;
  begin_joined();
  leave(0, success);
  expect_end_after(100, 0, 0);
}

TEST_F(CoordinatorTest, AFailureCutsTheGraceOfASuccess) {
  begin_joined();
  leave(0, success);
  pass(0.5);
  leave(1, failure(5));
  expect_end_after(1, 5, 1);
}

TEST_F(CoordinatorTest, AFailureDoesNotProlongTheGraceOfASuccess) {
  begin_joined();
  leave(0, success);
  pass(2.5);
  leave(1, failure(5));
  expect_end_after(0.5, 5, 1);
}

TEST_F(CoordinatorTest, ADeathIsNotWaitedFor) {
  begin_joined();
  leave(0, failure(5));
  job_->end({139, 1, /*death=*/true}, "rank 1 was killed");
  expect_end(139, 1);
  EXPECT_TRUE(calls_.endings[0].death);
  EXPECT_EQ(job_->next_deadline(), Deadline());
  EXPECT_EQ(reported(), "run: rank 1 was killed\n");
}

TEST_F(CoordinatorTest, OnlyTheFirstEndCountsAndIsReported) {
  begin_joined();
  job_->end({4, 1}, "the first");
  job_->end({5, 2}, "the second");
  leave(0, failure(6));
  leave(1, failure(6));
  leave(2, failure(6));
  pass(3600);
  expect_end(4, 1);
  EXPECT_EQ(reported(), "run: the first\n");
}

// Ranks that return, and others that do not.

TEST_F(CoordinatorTest, RanksThatDoNotReturnAreNamedAfterTheTimeoutThatTheFirstReturnBegins) {
  begin_joined();
  leave(1, returned);
  pass(10);
  leave(2, returned);
  expect_end_after(20, 1, job::Ending::by_guardian);
  EXPECT_EQ(reported(),
            "run: ranks 1,2 returned from main or called exit(0), rank 0 did not within 30 s "
            "(GEX_EXIT_TIMEOUT)\n");
}

TEST_F(CoordinatorTest, WithoutATimeoutReturnedRanksWaitForEver) {
  launch_.exit_timeout = 0;
  begin_joined();
  leave(1, returned);
  EXPECT_EQ(job_->next_deadline(), Deadline());
}

// Other ranks may still print the reason of the failure.
TEST_F(CoordinatorTest, AWaitForAFailedRankDoesNotCutItsGrace) {
  begin_joined();
  leave(0, failure(5));
  job_->report_exited_peer(0);
  expect_end_after(1, 5, 0);
}

TEST_F(CoordinatorTest, AWaitForARankThatHasSucceededEndsTheJobWithSuccess) {
  begin_joined();
  leave(0, success);
  job_->report_exited_peer(0);
  expect_end(0, 0);
  EXPECT_EQ(reported(),
            "run: rank 0 (host one, pid 100) called gasnet_exit(0) while a collective call waits "
            "for it in ranks 1,2; the job is ended\n");
}

TEST_F(CoordinatorTest, AWaitForARankThatHasReturnedIsAFailure) {
  begin_joined();
  leave(2, returned);
  job_->report_exited_peer(2);
  expect_end(1, 2);
  EXPECT_EQ(reported(),
            "run: rank 2 (host two, pid 102) returned from main or called exit(0) while a "
            "collective call waits for it in ranks 0,1\n");
}

// With several hosts the report can overtake the departure.
TEST_F(CoordinatorTest, AWaitForARankThatHasNotLeftIsIgnored) {
  begin_joined();
  job_->report_exited_peer(2);
  expect_no_end();
}

TEST_F(CoordinatorTest, ARankThatEndsWithoutJoiningTheJobOfOthersIsAFailure) {
  for (const bool joined_first : {true, false}) {
    calls_ = {};
    begin();
    if (joined_first) join(0);
    job_->gone(2, 4711);
    if (!joined_first) {
      expect_no_end();
      join(0);
    }
    expect_end(1, 2);
  }
  const std::string line =
      "run: rank 2 (host two, pid 4711) ended with status 0 and never joined the job of rank 0\n";
  EXPECT_EQ(reported(), line + line);
}

// Programs that do not use libgex.
TEST_F(CoordinatorTest, RanksNoneOfWhichJoinMayEnd) {
  begin();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) job_->gone(rank, 4711);
  expect_no_end();
  EXPECT_TRUE(job_->all_gone());
  EXPECT_EQ(job_->status(), 0);
}

// Time limits.

TEST_F(CoordinatorTest, AtTheTimeLimitTheJobEndsWithoutAGrace) {
  launch_.time_limit = 2.5;
  begin_joined();
  leave(1, returned);
  expect_end_after(2.5, 124, job::Ending::by_guardian, Teardown::timed_out);
  EXPECT_TRUE(job_->urgent());
  EXPECT_EQ(reported(), "run: timed out after 2.5 s; ranks 0,2 had not finished\n");
}

TEST_F(CoordinatorTest, RanksThatHaveLeftButNotEndedAtTheTimeLimitAreNamed) {
  launch_.time_limit = 5;
  begin_joined();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) leave(rank, returned);
  job_->gone(0, 100);
  job_->gone(2, 102);
  pass(5);
  expect_end(124, job::Ending::by_guardian, Teardown::timed_out);
  EXPECT_EQ(reported(), "run: timed out after 5 s; rank 1 had not finished\n");
}

TEST_F(CoordinatorTest, AtTheTimeLimitOutputMayBeAllThatIsMissing) {
  launch_.time_limit = 5;
  begin_joined();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    leave(rank, returned);
    job_->gone(rank, 100);
  }
  pass(5);
  expect_end(124, job::Ending::by_guardian, Teardown::timed_out);
  EXPECT_EQ(reported(), "run: timed out after 5 s; not all that was printed could be written\n");
}

TEST_F(CoordinatorTest, TheNextDeadlineIsTheFirstOfAll) {
  launch_.time_limit = 60;
  begin_joined();
  const Clock::time_point start = present;
  EXPECT_EQ(job_->next_deadline(), Deadline(after(60, start)));
  leave(0, returned);
  EXPECT_EQ(job_->next_deadline(), Deadline(after(30, start)));
  leave(0, failure(2));
  EXPECT_EQ(job_->next_deadline(), Deadline(after(1, start)));
}

// Interrupts.

TEST_F(CoordinatorTest, AnInterruptIsForwardedAndIsTheStatusWhateverTheRanksDo) {
  begin_joined();
  job_->interrupted(SIGINT);
  EXPECT_EQ(calls_.signals, std::vector<int>{SIGINT});
  EXPECT_TRUE(calls_.endings.empty());
  EXPECT_TRUE(job_->urgent());
  leave(0, {.code = 3, .by_exit = true});
  leave(1, returned);
  leave(2, returned);
  ASSERT_EQ(calls_.endings.size(), 1u);
  EXPECT_EQ(job_->status(), 128 + SIGINT);
  EXPECT_EQ(reported(), "run: ended by signal 2 (Interrupt)\n");
}

// A terminal, or a control group, sends a signal to several processes of the job.
TEST_F(CoordinatorTest, CopiesOfAnInterruptWithinAMomentAreOne) {
  begin_joined();
  job_->interrupted(SIGINT);
  pass(0.19);
  job_->interrupted(SIGINT);
  EXPECT_EQ(calls_.signals.size(), 1u);
  EXPECT_TRUE(calls_.endings.empty());
  pass(0.02);
  job_->interrupted(SIGINT);
  EXPECT_EQ(calls_.signals.size(), 2u);
  ASSERT_EQ(calls_.endings.size(), 1u);
  EXPECT_EQ(calls_.endings[0].code, 128 + SIGINT);
}

TEST_F(CoordinatorTest, AnotherSignalIsASecondInterruptAtOnce) {
  begin_joined();
  job_->interrupted(SIGINT);
  job_->interrupted(SIGTERM);
  EXPECT_EQ(calls_.signals, (std::vector<int>{SIGINT, SIGTERM}));
  ASSERT_EQ(calls_.endings.size(), 1u);
  EXPECT_EQ(job_->status(), 128 + SIGINT);
}

TEST_F(CoordinatorTest, AfterAnInterruptExitsOfPeersAreNotExplained) {
  begin_joined();
  job_->interrupted(SIGTERM);
  leave(2, returned);
  job_->report_exited_peer(2);
  ASSERT_EQ(calls_.endings.size(), 1u);
  EXPECT_EQ(calls_.endings[0].code, 128 + SIGTERM);
  EXPECT_EQ(reported(), "run: ended by signal 15 (Terminated)\n");
}

// Hosts and output.

TEST_F(CoordinatorTest, TheLossOfAHostEndsTheOthersWithinASecond) {
  begin_joined();
  leave(0, success);
  job_->end_for_lost_host("host two (rank 2) is lost: it burns");
  expect_end(1, job::Ending::by_guardian, Teardown::immediate);
  EXPECT_TRUE(job_->urgent());
  EXPECT_EQ(reported(), "run: host two (rank 2) is lost: it burns\n");
}

TEST_F(CoordinatorTest, LostOutputMakesASuccessAFailure) {
  begin_joined();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) leave(rank, returned);
  job_->finished(/*lost_output=*/true);
  job_->finished(/*lost_output=*/false);
  EXPECT_EQ(job_->status(), 1);
}

TEST_F(CoordinatorTest, LostOutputDoesNotReplaceAFailure) {
  begin_joined();
  job_->end({5, 0}, "");
  job_->finished(/*lost_output=*/true);
  EXPECT_EQ(job_->status(), 5);
}

/// A terminal in place of standard error.
class Terminal {
 public:
  Terminal() : ours_(posix_openpt(O_RDWR | O_NOCTTY)), before_(dup(STDERR_FILENO)) {
    EXPECT_EQ(grantpt(ours_.get()), 0);
    EXPECT_EQ(unlockpt(ours_.get()), 0);
    const os::FileDescriptor theirs(open(ptsname(ours_.get()), O_RDWR | O_NOCTTY));
    EXPECT_GE(dup2(theirs.get(), STDERR_FILENO), 0);
  }
  ~Terminal() { dup2(before_.get(), STDERR_FILENO); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Returns the text that was written, which is not empty.
  std::string read_some() const {
    char text[512];
    const ssize_t got = read(ours_.get(), text, sizeof text);
    return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
  }

 private:
  os::FileDescriptor ours_;
  os::FileDescriptor before_;
};

TEST_F(CoordinatorTest, ATerminalShowsHowManyRanksHaveJoinedAStartThatTakesLong) {
  const Terminal terminal;
  begin();
  join(0);
  pass(0.99);
  EXPECT_EQ(job_->next_deadline(), Deadline(after(0.01, present)));
  pass(0.02);
  EXPECT_EQ(terminal.read_some(), "\rrun: 1 of 3 ranks have joined");
  join(1);
  pass(0.25);
  EXPECT_EQ(terminal.read_some(), "\rrun: 2 of 3 ranks have joined");
  join(2);
  EXPECT_EQ(terminal.read_some(), "\r\033[K");
  EXPECT_EQ(job_->next_deadline(), Deadline());
}

}  // namespace
}  // namespace gex::launch
