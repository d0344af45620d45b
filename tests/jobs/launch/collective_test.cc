// Collective calls by way of the guardian.

#include "modes.h"

namespace launch_test {
namespace {

using Collective = AllModes;
LAUNCH_TEST_IN_ALL_MODES(Collective);

TEST_P(Collective, ExchangesAtManySizesOfJob) {
  for (const int ranks : {1, 2, 7, 64}) {
    const Outcome outcome = job(ranks, {"exchange"}).run();
    expect_success(outcome);
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string line =
          "exchanged " + std::to_string(rank) + "/" + std::to_string(ranks) + "\n";
      EXPECT_NE(outcome.output.find(line), outcome.output.npos) << line;
    }
  }
}

TEST_P(Collective, ExchangesMoreThanSocketsHold) {
  const Outcome outcome = job(4, {"exchange", "3000000"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 4);
}

TEST_P(Collective, ExchangesAmongTheMostRanks) {
  const Outcome outcome = job(1024, {"exchange", "64"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "/1024"), 1024);
}

TEST_P(Collective, SharesDescriptors) {
  for (const int ranks : {1, 2, 7, 64}) {
    const Outcome outcome = job(ranks, {"share"}).run();
    expect_success(outcome);
    EXPECT_EQ(lines_with(outcome.output, "shared"), ranks);
  }
}

TEST_P(Collective, RefusesExchangesOfDifferentSizes) {
  const Outcome outcome = job(2, {"mismatch"}).run();
  expect_failure(outcome, 1, " bytes while rank ");
}

TEST_P(Collective, RanksHaveTheirPlaceAndForgetItsVariables) {
  const Outcome outcome = job(3, {"who"}).run();
  expect_success(outcome);
  const std::string origin = GetParam() == Mode::fork ? "forked" : "gexrun";
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(lines_with(outcome.output, "rank " + std::to_string(rank) + " of 3 " + origin), 1);
  }
}

TEST_P(Collective, RanksAreStartedInTheSurroundingsOfTheLauncher) {
  const Outcome alone = Command({probe, "surroundings"}).open_files(512).run();
  const Outcome outcome = job(2, {"surroundings"}).open_files(512).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, alone.output + alone.output);
}

TEST(Singleton, IsAJobOfOne) {
  const Outcome outcome = Command({probe, "who"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "rank 0 of 1 singleton on host 0\n");
}

TEST(Singleton, ExchangesWithItself) {
  expect_success(Command({probe, "exchange"}).run());
  expect_success(Command({probe, "share"}).run());
}

TEST(Singleton, EndsWithItsCodeAndItsOutput) {
  const Outcome outcome = Command({probe, "end-from-main", "3", "0"}).run();
  expect_failure(outcome, 3, "");
  EXPECT_EQ(outcome.output, "final output\n");
}

TEST(Fork, BufferedTextIsNotDoubled) {
  const Outcome outcome = job(Mode::fork, 4, {"join-with-buffered-text"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "before"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, "after"), 4) << outcome.output;
}

// Repeated, since a signal to the original process may be delivered to either of its threads.
TEST(Fork, RanksHaveTheCallingThreadOnlyWhereOthersRun) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Outcome outcome = job(Mode::fork, 2, {"join-with-threads"}).run();
    expect_clean(outcome);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(lines_with(outcome.error, "and 1 other thread of this process is not in the ranks"),
              1)
        << outcome.error;
  }
}

TEST(Fork, BadRankCountsAreRefused) {
  for (const char* const count : {"0", "abc", "1048577", "-1", "2x"}) {
    const Outcome outcome = Command({probe, "who"}).variable("GASNET_PSHM_NODES", count).run();
    expect_failure(outcome, 1,
                   std::string("GASNET_PSHM_NODES='") + count +
                       "' is not a number of ranks from 1 to 1048576");
  }
}

}  // namespace
}  // namespace launch_test
