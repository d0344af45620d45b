// Detecting that a job makes no progress, with a clock that the test moves.

#include "launch/hang/hang_watch.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace gex::launch {
namespace {

Clock::time_point present{};
Clock::time_point now() noexcept {
  return present;
}
void pass(double seconds) {
  present = after(seconds, present);
}

constexpr double hang_after = 8;
constexpr std::uint32_t job_ranks = 4;

class Watch : public testing::Test {
 protected:
  Watch() { start(2); }

  void start(std::size_t hosts) {
    watch = std::make_unique<HangWatch>(
        hang_after, hosts, job_ranks,
        HangWatch::Actions{[this](std::uint32_t ms) { interval_ms = ms; },
                           [this](std::uint32_t number, Collection what) {
                             asked.push_back(number);
                             collecting = what;
                           },
                           [this](Hang hang, double seconds, const HangReport& report) {
                             idle_s = seconds;
                             kind = hang;
                             ranks.push_back(report.classes.size());
                             reported = report;
                           }},
        now);
    watch->start();
  }
  void observe(bool progressed, double waited_s, std::uint32_t host = 0) {
    watch->observed(std::array{host}, {progressed, static_cast<std::uint64_t>(waited_s * 1e3)});
  }
  void answer(std::size_t host, std::uint32_t rank) {
    RankReport report;
    report.rank = rank;
    watch->collected(host, asked.back(), ReportForm::ranks, encode({report}));
  }

  /// A host none of whose ranks has computed for so long.
  void idle(double seconds, bool polls, std::uint32_t host) {
    watch->observed(std::array{host}, {false, 0, static_cast<std::uint64_t>(seconds * 1e3), polls});
  }
  /// Both hosts answer, first with their pictures, then with their stacks.
  void answer_all() {
    for (int i = 0; i < 2; ++i) {
      answer(0, 0);
      answer(1, 1);
    }
  }

  std::unique_ptr<HangWatch> watch;
  std::uint32_t interval_ms = 0;
  std::vector<std::uint32_t> asked;
  Collection collecting{};
  HangReport reported;
  Hang kind{};
  std::vector<std::size_t> ranks;  ///< of each report
  double idle_s = 0;
};

TEST_F(Watch, LooksSeveralTimesInTheTimeOfAHang) {
  EXPECT_EQ(interval_ms, 1000U);
}

TEST_F(Watch, CallsAJobHungWhenNothingMovesAndARankWaits) {
  pass(7);
  observe(false, 7);
  EXPECT_TRUE(asked.empty()) << "not yet";
  pass(2);
  observe(false, 9, 1);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_TRUE(ranks.empty());
  answer(0, 0);
  answer(0, 0);
  EXPECT_TRUE(ranks.empty()) << "one host has answered, twice";
  answer(1, 1);
  EXPECT_TRUE(ranks.empty()) << "the stacks are missing";
  answer(0, 0);
  answer(1, 1);
  EXPECT_EQ(ranks, std::vector<std::size_t>{2});
  EXPECT_DOUBLE_EQ(idle_s, 9);
}

TEST_F(Watch, AsksForStacksWhenThePictureOfAllHostsIsThere) {
  const auto show = [this](std::uint32_t rank, const char* stack) {
    RankReport report;
    report.rank = rank;
    report.threads.resize(1);
    report.threads[0].backtrace = stack;
    watch->collected(rank, asked.back(), ReportForm::ranks, encode({report}));
  };
  pass(9);
  observe(false, 9);
  show(0, "");
  EXPECT_EQ(collecting, Collection::picture) << "the other host's picture is missing";
  show(1, "");
  EXPECT_EQ(collecting, Collection::stacks);
  show(0, "frames");
  pass(60);
  watch->meet_deadlines();
  ASSERT_EQ(reported.classes.size(), 2U) << "of a host without stacks the picture is shown";
  EXPECT_EQ(reported.classes[0].example.threads[0].backtrace, "frames");
  EXPECT_EQ(reported.classes[1].example.threads[0].backtrace, "");
}

TEST_F(Watch, DoesNotCallAJobHungThatComputes) {
  pass(100);
  observe(false, 0);
  observe(false, 0, 1);
  EXPECT_TRUE(asked.empty());
}

TEST_F(Watch, CallsAJobHungThatDoesNothingButPoll) {
  pass(9);
  idle(9, /*polls=*/true, 0);
  idle(7, /*polls=*/false, 1);
  EXPECT_TRUE(asked.empty()) << "the other host has computed";
  pass(2);
  idle(9, /*polls=*/false, 1);
  answer_all();
  EXPECT_EQ(ranks.size(), 1U);
  EXPECT_EQ(kind, Hang::polls);
  EXPECT_DOUBLE_EQ(idle_s, 9);
  idle(10, /*polls=*/true, 0);
  EXPECT_EQ(asked.size(), 2U) << "once";
  idle(0, /*polls=*/true, 0);
  idle(10, /*polls=*/true, 0);
  EXPECT_EQ(asked.size(), 3U) << "again";
}

TEST_F(Watch, TakesAnObservationOfSeveralHostsForThatOfEach) {
  start(4);
  const Observation polling{false, 0, 9000, true};
  pass(9);
  watch->observed(std::array{0U, 1U, 2U}, polling);
  EXPECT_TRUE(asked.empty()) << "nothing is known of the last one";
  watch->observed(std::array{3U}, polling);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(Watch, DoesNotCallAJobHungWhoseRanksSleep) {
  pass(100);
  idle(100, /*polls=*/false, 0);
  idle(100, /*polls=*/false, 1);
  EXPECT_TRUE(asked.empty());
}

TEST_F(Watch, DoesNotCallAJobHungWhoseOtherHostMoves) {
  for (int i = 0; i < 20; ++i) {
    pass(1);
    observe(false, i, 0);
    observe(true, 0, 1);
  }
  EXPECT_TRUE(asked.empty());
}

TEST_F(Watch, ReportsOnceUntilThereIsProgress) {
  pass(9);
  observe(false, 9);
  answer_all();
  EXPECT_EQ(ranks.size(), 1U);
  pass(9);
  observe(false, 18);
  EXPECT_EQ(asked.size(), 2U);
  observe(true, 0);
  pass(9);
  observe(false, 9);
  EXPECT_EQ(asked.size(), 3U);
}

TEST_F(Watch, LeavesOutAHostThatDoesNotAnswer) {
  pass(9);
  observe(false, 9);
  answer(1, 1);
  ASSERT_TRUE(watch->next_deadline());
  pass(60);
  watch->meet_deadlines();
  answer(1, 1);
  pass(60);
  watch->meet_deadlines();
  EXPECT_EQ(ranks, std::vector<std::size_t>{1});
  answer(0, 0);
  EXPECT_EQ(ranks.size(), 1U) << "too late";
}

TEST_F(Watch, TakesAnInvalidAnswerForEmpty) {
  pass(9);
  observe(false, 9);
  watch->collected(0, asked.back(), ReportForm::ranks, std::vector<std::byte>(3, std::byte{0xff}));
  watch->collected(7, asked.back(), ReportForm::ranks, {});
  answer(1, 1);
  watch->collected(0, asked.back(), ReportForm::ranks, {});
  answer(1, 1);
  EXPECT_EQ(ranks, std::vector<std::size_t>{1});
}

TEST_F(Watch, GivesOneCollectionToAllWhoAsk) {
  int delivered = 0;
  watch->request([&](const HangReport&) { ++delivered; });
  watch->request([&](const HangReport&) { ++delivered; });
  EXPECT_EQ(asked.size(), 1U);
  answer_all();
  EXPECT_EQ(delivered, 2);
  watch->request([&](const HangReport&) { ++delivered; });
  EXPECT_EQ(asked.size(), 3U);
}

}  // namespace
}  // namespace gex::launch
