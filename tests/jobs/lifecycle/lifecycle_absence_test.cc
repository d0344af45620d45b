// Ranks that have returned from main, and those that wait for them.

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

class Absence : public OverEveryNetwork {
 protected:
  void expect_named(const std::string& call) const {
    const Outcome outcome = run(4, {"miss_call", call});
    expect_nothing_left(outcome);
    EXPECT_EQ(outcome.status, 1) << call;
    EXPECT_EQ(outcome.output, "") << call;
    EXPECT_EQ(lines_with(outcome.error, "rank 0 (host "), 1) << call << outcome.error;
    EXPECT_EQ(lines_with(outcome.error,
                         "returned from main or called exit(0) while a collective call waits for "
                         "it in ranks 1-3"),
              1)
        << call << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ""), 1) << call << outcome.error;
  }
};
LIFECYCLE_TEST_OVER_EVERY_NETWORK(Absence);

TEST_P(Absence, OfARankThatABarrierNeedsEndsTheJob) {
  expect_named("barrier");
}

TEST_P(Absence, DoesNotEndTheJobWhereNoRankNeedsTheRank) {
  expect_success(run(4, {"go_on_without"}), "done", 3);
}

class AbsenceFromOtherCalls : public Absence {};
INSTANTIATE_TEST_SUITE_P(Job, AbsenceFromOtherCalls,
                         testing::Values(Network::shared_memory, Network::emu), name_of);

TEST_P(AbsenceFromOtherCalls, EndsTheJob) {
  for (const char* call : {"test", "broadcast", "reduce", "split", "team"}) expect_named(call);
}

}  // namespace
}  // namespace lifecycle_test
