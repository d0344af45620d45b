// Patience: how a wait spins, offers its core and comes to sleep, with a clock that the test moves.

#include "base/patience.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gex {
namespace {

/// Each turn takes 50 ns, and a yield as long as the test sets.
struct Simulated {
  static inline WaitHistory the_history;
  static inline std::uint64_t time = 1;
  static inline std::uint64_t yield_ns = 500;
  static inline unsigned yields = 0;
  static inline unsigned spins_begun = 0;

  static WaitHistory& history() noexcept { return the_history; }
  static void pause() noexcept { time += 50; }
  static void yield() noexcept {
    time += yield_ns;
    ++yields;
  }
  static void spins() noexcept { ++spins_begun; }
  static Tick now() noexcept { return time; }
  static std::uint64_t to_ns(Tick interval) noexcept { return interval; }
};
using TestPatience = BasicPatience<Simulated>;

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

class Waiting : public testing::Test {
 protected:
  void SetUp() override {
    new (&Simulated::the_history) WaitHistory;
    Simulated::time = 1;
    Simulated::yield_ns = 500;
    Simulated::yields = Simulated::spins_begun = 0;
    set_oversubscribed(false);
  }
  void TearDown() override { set_oversubscribed(false); }

  /// How long a wait lasts until it is to sleep; `limit` if it does not come to that.
  static std::uint64_t until_sleep(TestPatience& patience, bool here = true,
                                   std::uint64_t limit = 20 * ms, bool may_sleep = true) {
    const std::uint64_t begin = Simulated::time;
    while (Simulated::time - begin < limit) {
      if (patience.next(may_sleep, here) == Turn::sleep) return Simulated::time - begin;
      Simulated::time += 10;
    }
    return limit;
  }
  static std::uint64_t until_sleep(WaitKind kind = WaitKind::operation) {
    TestPatience patience(kind);
    return until_sleep(patience);
  }
  /// A wait that sleeps for so long, and is over then.
  static void wait_asleep(WaitKind kind, std::uint64_t slept_ns) {
    TestPatience patience(kind);
    until_sleep(patience);
    Simulated::time += slept_ns;
    patience.slept(slept_ns);
    patience.progressed();
  }
};

TEST_F(Waiting, WithACoreForEachRankReadsNoClockAtFirstThenSpinsAndSleeps) {
  TestPatience patience(WaitKind::operation);
  for (int i = 0; i < 1024; ++i) ASSERT_EQ(patience.next(true, true), Turn::again);
  EXPECT_EQ(Simulated::time, 1U) << "neither a pause nor a yield";
  const std::uint64_t spun = until_sleep(patience);
  EXPECT_GE(spun, WaitHistory::max_spin_ns);
  EXPECT_LE(spun, WaitHistory::max_spin_ns + 10 * us);
  EXPECT_EQ(Simulated::yields, 0U);
}

TEST_F(Waiting, SpinsAnewAfterSomethingHasCome) {
  TestPatience patience(WaitKind::operation);
  const std::uint64_t first = until_sleep(patience);
  EXPECT_LE(until_sleep(patience), 5 * us) << "goes on to sleep while nothing comes";
  patience.progressed();
  EXPECT_EQ(until_sleep(patience), first);
}

TEST_F(Waiting, SpinsForAShorterTimeWhereWaitsOfTheKindAreLong) {
  const std::uint64_t before = until_sleep(WaitKind::barrier);
  for (int i = 0; i < 20; ++i) wait_asleep(WaitKind::barrier, 10 * ms);
  EXPECT_LE(until_sleep(WaitKind::barrier), 2 * WaitHistory::min_spin_ns);
  EXPECT_EQ(until_sleep(WaitKind::operation), before) << "another kind";
  // And again longer where they would have ended soon after.
  for (int i = 0; i < 20; ++i) wait_asleep(WaitKind::barrier, 5 * us);
  EXPECT_EQ(until_sleep(WaitKind::barrier), before);
}

TEST_F(Waiting, SpinsForAShortTimeWhereOthersTakeTheCore) {
  TestPatience disturbed(WaitKind::operation);
  for (int i = 0; i < 1100; ++i) disturbed.next(true, true);
  Simulated::time += 3 * ms;
  until_sleep(disturbed);
  EXPECT_LE(until_sleep(), 2 * WaitHistory::min_spin_ns);
  // Until that has long not been seen.
  Simulated::time += 2 * WaitHistory::contended_ns;
  EXPECT_GE(until_sleep(), WaitHistory::max_spin_ns);
}

TEST_F(Waiting, ASleepIsNotTakenForALostCore) {
  wait_asleep(WaitKind::operation, 30 * ms);
  EXPECT_FALSE(contended<Simulated>(Simulated::time));
  TestPatience patience(WaitKind::operation);
  until_sleep(patience);
  Simulated::time += 30 * ms;
  patience.slept(30 * ms);
  until_sleep(patience);
  EXPECT_FALSE(contended<Simulated>(Simulated::time));
}

TEST_F(Waiting, OffersTheCoreWhereNothingWouldWakeIt) {
  TestPatience patience(WaitKind::operation);
  EXPECT_EQ(until_sleep(patience, true, 5 * ms, /*may_sleep=*/false), 5 * ms);
  EXPECT_GE(Simulated::yields, 100U);
}

TEST_F(Waiting, WithMoreRanksThanCoresOffersTheCoreAlmostAtOnceThenSleeps) {
  set_oversubscribed(true);
  TestPatience patience(WaitKind::operation);
  unsigned turns = 0;
  while (patience.next(true, true) != Turn::yielded) ++turns;
  EXPECT_EQ(turns, 2U);
  const std::uint64_t lasted = until_sleep(patience);
  EXPECT_GE(lasted, WaitHistory::max_spin_ns - 10 * us);
  EXPECT_LE(lasted, WaitHistory::max_spin_ns + 10 * us);
  EXPECT_GE(Simulated::yields, 50U);
}

TEST_F(Waiting, WithMoreRanksThanCoresSpinsForWhatComesFromOtherCores) {
  set_oversubscribed(true);
  TestPatience patience(WaitKind::operation);
  unsigned turns = 0;
  while (patience.next(true, false) != Turn::yielded) ++turns;
  EXPECT_EQ(turns, 256U);
}

TEST_F(Waiting, AnOfferThatOthersTakeEndsThem) {
  set_oversubscribed(true);
  Simulated::yield_ns = 4 * ms;
  TestPatience patience(WaitKind::operation);
  until_sleep(patience);
  EXPECT_EQ(Simulated::yields, 1U);
  EXPECT_TRUE(contended<Simulated>(Simulated::time));
}

TEST_F(Waiting, WithMoreRanksThanCoresThoseWhoTakeItMayBeRanksAndAreOfferedIt) {
  set_oversubscribed(true);
  Simulated::history().lost_core(Simulated::time);
  TestPatience patience(WaitKind::barrier);
  const std::uint64_t lasted = until_sleep(patience);
  EXPECT_GE(lasted, WaitHistory::min_spin_ns);
  EXPECT_LE(lasted, WaitHistory::min_spin_ns + 10 * us);
  EXPECT_GE(Simulated::yields, 5U);
}

TEST_F(Waiting, AsksForItsUsualTimeSliceOnceUnlessItSleepsAtOnce) {
  TestPatience patience(WaitKind::operation);
  until_sleep(patience);
  EXPECT_EQ(Simulated::spins_begun, 1U);
  patience.slept(1 * ms);
  until_sleep(patience);
  EXPECT_EQ(Simulated::spins_begun, 1U) << "the same wait";
  patience.progressed();
  until_sleep(patience);
  EXPECT_EQ(Simulated::spins_begun, 2U);

  Simulated::history().set_mode(WaitMode::block);
  until_sleep();
  EXPECT_EQ(Simulated::spins_begun, 2U);
}

TEST_F(Waiting, ModesOfTheClientMeanWhatTheyName) {
  Simulated::history().set_mode(WaitMode::spin);
  TestPatience spins(WaitKind::operation);
  EXPECT_EQ(until_sleep(spins), 20 * ms);
  EXPECT_EQ(Simulated::yields, 0U);

  Simulated::history().set_mode(WaitMode::block);
  EXPECT_LE(until_sleep(), 11 * us) << "the turns that read no clock";
  Simulated::history().set_mode(WaitMode::spin_block);
  EXPECT_LE(until_sleep(), 2 * WaitHistory::min_spin_ns);

  // With more ranks than cores one that spins would keep the others from what it waits for.
  set_oversubscribed(true);
  Simulated::history().set_mode(WaitMode::spin);
  TestPatience crowded(WaitKind::operation);
  EXPECT_EQ(until_sleep(crowded), 20 * ms);
  EXPECT_GE(Simulated::yields, 1000U);
}

TEST_F(Waiting, ANapForWhatRingsNoBellIsShortAgainstTheWait) {
  TestPatience patience(WaitKind::operation);
  until_sleep(patience);
  EXPECT_EQ(patience.client_nap_ns(), 50 * us);
  Simulated::time += 8 * ms;
  EXPECT_LE(patience.client_nap_ns(), 300 * us);
  Simulated::time += 1000 * ms;
  EXPECT_EQ(patience.client_nap_ns(), 16 * ms);
}

TEST_F(Waiting, ANapIsLongerWhereClientsWaitsHaveLatelyBeenEndedByMessages) {
  TestPatience patience(WaitKind::client);
  until_sleep(patience);
  Simulated::time += 8 * ms;
  Simulated::history().client_wait_ended(/*by_message=*/true);
  EXPECT_LE(patience.client_nap_ns(), 300 * us);
  Simulated::history().client_wait_ended(/*by_message=*/true);
  EXPECT_GE(patience.client_nap_ns(), 4 * ms);
  Simulated::history().client_wait_ended(/*by_message=*/false);
  EXPECT_LE(patience.client_nap_ns(), 300 * us);
}

TEST_F(Waiting, SleepsAgainAtOnceAfterASleepThatBroughtNothing) {
  TestPatience patience(WaitKind::barrier);
  until_sleep(patience);
  patience.slept(16 * ms);
  EXPECT_EQ(patience.next(/*may_sleep=*/true, /*here=*/true), Turn::sleep);
}

TEST_F(Waiting, NapsAreLongerTheMoreRanksShareACore) {
  TestPatience patience(WaitKind::operation);
  until_sleep(patience);
  Simulated::time += 5000 * ms;
  for (const auto& [ranks, longest] :
       {std::pair{1U, 16U}, {8U, 16U}, {64U, 128U}, {2048U, 1000U}}) {
    Simulated::history().set_ranks_per_core(ranks);
    EXPECT_EQ(patience.nap_ns(), longest * ms);
  }
}

TEST_F(Waiting, NapsGrowWhereTheyEndLateAndShrinkToTheUsualOnesAfterwards) {
  WaitHistory& history = Simulated::history();
  history.set_ranks_per_core(1);
  history.slept(16 * ms, 17 * ms);
  EXPECT_EQ(history.long_nap_ns(), 16 * ms) << "in time";
  history.slept(1 * ms, 30 * ms);
  EXPECT_EQ(history.long_nap_ns(), 16 * ms) << "a short sleep, which others delay as a rule";
  history.slept(16 * ms, 30 * ms);
  EXPECT_EQ(history.long_nap_ns(), 32 * ms);
  EXPECT_EQ(history.nap_ns(), 16 * ms) << "of a rank on which others rely";
  history.slept(32 * ms, 5 * ms);
  EXPECT_LT(history.long_nap_ns(), 32 * ms) << "woken before";
  for (int i = 0; i < 10; ++i) history.slept(history.long_nap_ns(), 2 * history.long_nap_ns());
  EXPECT_EQ(history.long_nap_ns(), WaitHistory::longest_nap_ns);
  for (int i = 0; i < 100; ++i) history.slept(history.long_nap_ns(), history.long_nap_ns());
  EXPECT_EQ(history.long_nap_ns(), 16 * ms);
}

class Polling : public Waiting {
 protected:
  BasicPollPatience<Simulated> polls;

  /// Turns until the next that is not `again`, with so much between them.
  Turn after(unsigned& turns, std::uint64_t between_ns, unsigned limit = 100'000) {
    for (turns = 1; turns < limit; ++turns) {
      Simulated::time += between_ns;
      const Turn turn = polls.next(true);
      if (turn != Turn::again) return turn;
    }
    return Turn::again;
  }
};

TEST_F(Polling, WithACoreForEachRankOffersItNowAndThenAndDoesNotSleep) {
  unsigned turns = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(after(turns, 100), Turn::yielded);
    EXPECT_EQ(turns, 1024U);
  }
}

TEST_F(Polling, WithMoreRanksThanCoresALoopOfNothingButPollsComesToSleep) {
  set_oversubscribed(true);
  unsigned turns = 0;
  EXPECT_EQ(after(turns, 100), Turn::yielded);
  EXPECT_EQ(turns, 64U);
  Turn turn = Turn::yielded;
  for (int i = 0; i < 20 && turn == Turn::yielded; ++i) turn = after(turns, 100);
  EXPECT_EQ(turn, Turn::sleep);
  Simulated::time += 50 * us;
  polls.slept();
  EXPECT_EQ(after(turns, 100), Turn::sleep) << "the sleep is not work of the client's";
  polls.reset();
  EXPECT_EQ(after(turns, 100), Turn::yielded);
}

TEST_F(Polling, ALoopThatDoesSomethingElseDoesNotSleep) {
  set_oversubscribed(true);
  unsigned turns = 0;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after(turns, 5 * us), Turn::yielded);
}

}  // namespace
}  // namespace gex
