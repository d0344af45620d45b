// When departures of ranks end the job, and with what status.

#include "boot/coordinator.h"

#include <gtest/gtest.h>

#include <optional>

namespace gex::boot {
namespace {

constexpr std::uint32_t ranks = 3;

/// Guardians that record the calls.
class RecordedCalls final : public Guardians {
 public:
  void gathered(std::uint32_t, SharedBytes) override {}
  void absent(std::uint32_t rank, std::uint32_t) override { first_absent = rank; }
  void release(bool finalize) override { finalize_mpi = finalize; }
  void end(const Ending& asked, Teardown) override { ending = asked; }
  void signal(int) override {}

  std::optional<std::uint32_t> first_absent;
  std::optional<bool> finalize_mpi;  ///< argument of `release`
  std::optional<Ending> ending;
};

constexpr Departure returned{.code = 0, .by_exit = true};
constexpr Departure success{.code = 0};
constexpr Departure failure(int code) {
  return {.code = code};
}

class CoordinatorTest : public testing::Test {
 protected:
  /// A job whose ranks have joined, and whose only deadline within hours is the grace after a
  /// success.
  void begin(double grace = 3600) {
    launch_.hosts.add("here", ranks);
    launch_.exit_grace = grace;
    launch_.exit_timeout = 7200;
    job_.emplace(launch_, calls_);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) job_->joined(rank, 1);
  }
  void leave(std::uint32_t rank, const Departure& how) { job_->left(rank, 0, how); }
  /// Seconds until the next deadline.
  double due_in() const {
    return std::chrono::duration<double>(*job_->next_deadline() - Clock::now()).count();
  }
  void expect_end(int code, std::uint32_t rank) const {
    ASSERT_TRUE(calls_.ending.has_value());
    EXPECT_EQ(calls_.ending->code, code);
    EXPECT_EQ(calls_.ending->rank, rank);
    EXPECT_FALSE(calls_.ending->death);
    EXPECT_EQ(job_->status(), code);
  }
  void expect_no_end() {
    job_->meet_deadlines();
    EXPECT_FALSE(calls_.ending.has_value());
    EXPECT_FALSE(calls_.finalize_mpi.has_value());
  }

  Launch launch_;
  RecordedCalls calls_;
  std::optional<JobCoordinator> job_;
};

TEST_F(CoordinatorTest, TheJobEndsOnceAllHaveLeftWithTheFirstFailure) {
  begin();
  leave(0, success);
  leave(2, failure(5));
  expect_no_end();
  EXPECT_EQ(calls_.first_absent, 0u);
  leave(1, failure(7));
  expect_end(5, 2);
}

TEST_F(CoordinatorTest, WhoReturnsIsOneOfAllWhoHaveLeft) {
  begin();
  leave(0, returned);
  leave(1, {.code = 3, .by_exit = true});
  leave(2, returned);
  expect_end(3, 1);
}

TEST_F(CoordinatorTest, WhoHasReturnedCanEndTheJobYet) {
  begin();
  leave(0, returned);
  leave(0, failure(6));
  leave(0, failure(8));
  expect_no_end();
  leave(1, returned);
  expect_no_end();
  leave(2, returned);
  expect_end(6, 0);
}

TEST_F(CoordinatorTest, TheGraceBeginsWithTheFirstFailure) {
  begin(100);
  leave(0, failure(5));
  EXPECT_GT(due_in(), 50);
  EXPECT_LE(due_in(), 100);
  const Deadline before = job_->next_deadline();
  leave(1, failure(6));
  EXPECT_EQ(job_->next_deadline(), before);
}

TEST_F(CoordinatorTest, WithoutAGraceAFailureEndsTheJobAtOnce) {
  begin(0);
  leave(1, failure(5));
  job_->meet_deadlines();
  expect_end(5, 1);
}

TEST_F(CoordinatorTest, ASuccessHasAGraceOfSecondsInAnyCaseAndAFailureCutsIt) {
  begin(0);
  leave(0, success);
  expect_no_end();
  EXPECT_GT(due_in(), 1);
  EXPECT_LE(due_in(), 3);
  leave(1, failure(5));
  job_->meet_deadlines();
  expect_end(5, 1);
}

TEST_F(CoordinatorTest, ASuccessHasALongGraceWhereItIsAsked) {
  begin(100);
  leave(0, success);
  EXPECT_GT(due_in(), 50);
}

TEST_F(CoordinatorTest, ADeathIsNotWaitedFor) {
  begin();
  leave(0, failure(5));
  job_->end({139, 1, /*death=*/true}, {});
  ASSERT_TRUE(calls_.ending.has_value());
  EXPECT_EQ(calls_.ending->code, 139);
  EXPECT_EQ(job_->next_deadline(), Deadline());
}

// Other ranks may still print the reason of the failure.
TEST_F(CoordinatorTest, AWaitOnAFailedRankDoesNotCutItsGrace) {
  begin();
  leave(0, failure(5));
  job_->report_exited_peer(0);
  expect_no_end();
}

TEST_F(CoordinatorTest, AWaitOnARankThatHasSucceededEndsTheJob) {
  begin();
  leave(0, success);
  job_->report_exited_peer(0);
  expect_end(0, 0);
}

TEST_F(CoordinatorTest, MpiIsFinalizedWhereItCanBeInAll) {
  begin();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) leave(rank, success);
  EXPECT_EQ(calls_.finalize_mpi, true);
}

TEST_F(CoordinatorTest, MpiIsLeftAloneWhereOneRankKeepsIt) {
  begin();
  leave(0, success);
  leave(1, {.code = 0, .keeps_mpi = true});
  leave(2, success);
  EXPECT_EQ(calls_.finalize_mpi, false);
}

}  // namespace
}  // namespace gex::boot
