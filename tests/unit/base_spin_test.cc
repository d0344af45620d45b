// Waiter: spins where there is a core for everybody, gives the core away where there is not, and
// naps there when it has lasted.

#include "base/spin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "base/os_cpu.h"

namespace gex {
namespace {

static_assert(sizeof(Waiter) <= 4, "a waiter fits into a register, and into what clients keep");
static_assert(sizeof(CacheAligned<char>) == cache_line &&
              alignof(CacheAligned<char>) == cache_line);
static_assert(round_up_to_line(0) == 0 && round_up_to_line(1) == 64 && round_up_to_line(64) == 64);

/// Writes down what a waiter does: 'p' for a pause, 'y' for a yield, 'n' for a nap.
struct Recorder {
  static inline std::string done;
  static inline std::vector<std::uint32_t> naps;
  static void pause() noexcept { done += 'p'; }
  static void yield() noexcept { done += 'y'; }
  static void nap(std::uint32_t us) noexcept {
    done += 'n';
    naps.push_back(us);
  }
};

class Waiting : public testing::Test {
 protected:
  void SetUp() override {
    Recorder::done.clear();
    Recorder::naps.clear();
  }
  void TearDown() override {
    set_oversubscribed(false);
    set_nap_unit(1, 1);
    set_short_naps(false);
  }

  BasicWaiter<Recorder> waiter;

  void wait(int turns) {
    for (int i = 0; i < turns; ++i) waiter.wait();
  }
};

TEST_F(Waiting, WithMoreRanksThanCoresYieldsAlmostAtOnceAndNapsWhenItHasLasted) {
  set_oversubscribed(true);
  wait(2 + 64 + 3);
  EXPECT_EQ(Recorder::done, "pp" + std::string(64, 'y') + "nnn");
  // A new wait yields again first.
  waiter.reset();
  Recorder::done.clear();
  wait(4);
  EXPECT_EQ(Recorder::done, "ppyy");
}

TEST_F(Waiting, WithACoreForEverybodyLooksAgainAtOnceThenSpinsLongAndYieldsRarely) {
  set_oversubscribed(false);
  wait(1024);
  EXPECT_EQ(Recorder::done, "");
  wait(4096 + 1 + 256 + 1);
  const std::string expected = std::string(4096, 'p') + "y" + std::string(256, 'p') + "y";
  EXPECT_TRUE(Recorder::done == expected);
}

TEST_F(Waiting, WithACoreForEverybodyNeverNaps) {
  set_oversubscribed(false);
  for (int i = 0; i < 100'000; ++i) {
    wait(257);
    ASSERT_EQ(Recorder::done.find('n'), std::string::npos);
    Recorder::done.clear();
  }
}

TEST_F(Waiting, ForOtherCoresSpinsForAWhileEvenThen) {
  set_oversubscribed(true);
  for (int i = 0; i < 256 + 1 + 32 + 1; ++i) waiter.wait_for_other_cores();
  EXPECT_EQ(Recorder::done, std::string(256, 'p') + "y" + std::string(32, 'p') + "y");
  // Until it needs this one.
  waiter.reset();
  waiter.wait_for_other_cores();
  Recorder::done.clear();
  wait(3);
  EXPECT_EQ(Recorder::done, "pyy");
}

TEST_F(Waiting, ForOtherCoresNapsToo) {
  set_oversubscribed(true);
  for (int i = 0; i < 256 + 33 * 64; ++i) waiter.wait_for_other_cores();
  EXPECT_EQ(Recorder::done.find('n'), std::string::npos);
  waiter.wait_for_other_cores();
  EXPECT_EQ(Recorder::done.back(), 'n');
}

TEST_F(Waiting, NapsGrowUpToAMillisecond) {
  set_oversubscribed(true);
  wait(2 + 64 + 100'000);
  ASSERT_EQ(Recorder::naps.size(), 100'000U);
  for (std::uint32_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(Recorder::naps[i], std::min(i + 1, 100U) * 10) << i;
  // A new wait begins with short ones.
  waiter.reset();
  wait(2 + 64 + 2);
  EXPECT_EQ(Recorder::naps.back(), 20U);
}

TEST_F(Waiting, NapsAreLongerWithManyRanksForACore) {
  set_oversubscribed(true);
  struct Case {
    std::size_t ranks;
    std::uint32_t cores, first_nap;
  };
  for (const Case& c : {Case{1, 4, 10}, Case{64, 2, 10}, Case{65, 2, 10}, Case{128, 2, 20},
                        Case{1024, 2, 160}, Case{1024, 64, 10}, Case{100'000, 1, 31'250}}) {
    set_nap_unit(c.ranks, c.cores);
    Recorder::naps.clear();
    waiter.reset();
    wait(2 + 64 + 200);
    EXPECT_EQ(Recorder::naps.front(), c.first_nap) << c.ranks;
    EXPECT_EQ(Recorder::naps.back(), 100 * c.first_nap) << c.ranks;
  }
}

TEST_F(Waiting, NapsStayShortIfToldSo) {
  set_oversubscribed(true);
  set_short_naps(true);
  wait(2 + 64 + 1000);
  EXPECT_EQ(Recorder::naps, std::vector<std::uint32_t>(1000, 10));
}

TEST_F(Waiting, GoesOnFromAStateThatWasKept) {
  set_oversubscribed(true);
  std::uint32_t state = 0;
  for (int i = 0; i < 2 + 64 + 3; ++i) {
    BasicWaiter<Recorder> going_on(state);
    going_on.wait();
    state = going_on.state();
  }
  EXPECT_EQ(Recorder::done, "pp" + std::string(64, 'y') + "nnn");
  EXPECT_EQ(Recorder::naps.back(), 30U);
}

TEST_F(Waiting, ResetSpinsAnew) {
  set_oversubscribed(true);
  wait(4);
  waiter.reset();
  wait(3);
  EXPECT_EQ(Recorder::done,
            "ppyy"
            "ppy");
}

TEST_F(Waiting, FollowsAChangeOfTheNumberOfRanks) {
  wait(1024 + 10);
  set_oversubscribed(true);
  wait(1);
  EXPECT_EQ(Recorder::done, "ppppppppppy");
  set_oversubscribed(false);
  wait(1);
  EXPECT_EQ(Recorder::done, "ppppppppppy");
}

TEST_F(Waiting, TwoThreadsOnOneCoreHandOverToOneAnother) {
  for (const bool crowded : {true, false}) {
    set_oversubscribed(crowded);
    constexpr int rounds = 100;
    std::atomic<int> token{0};
    const std::uint32_t core = os::allowed_cores().front();
    const auto player = [&](int parity) {
      EXPECT_EQ(os::pin_to_core(core), 0);
      for (int turn = parity; turn < 2 * rounds; turn += 2) {
        Waiter mine;
        while (token.load(std::memory_order_acquire) != turn) mine.wait();
        token.store(turn + 1, std::memory_order_release);
      }
    };
    std::thread first(player, 0), second(player, 1);
    first.join();
    second.join();
    EXPECT_EQ(token.load(), 2 * rounds);
  }
}

}  // namespace
}  // namespace gex
