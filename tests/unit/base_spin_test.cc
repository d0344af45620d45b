// Waiter: spins where there is a core for every rank, gives the core away where there is not.

#include "base/spin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/cache_line.h"
#include "base/os_cpu.h"

namespace gex {
namespace {

static_assert(sizeof(Waiter) <= 8, "a waiter is two counters");
static_assert(sizeof(CacheAligned<char>) == cache_line &&
              alignof(CacheAligned<char>) == cache_line);
static_assert(round_up_to_line(0) == 0 && round_up_to_line(1) == 64 && round_up_to_line(64) == 64);

/// Writes down what a waiter does: 'p' for a pause, 'y' for a yield, 'n' for a nap.
struct Recorder {
  static inline std::string done;
  static void pause() noexcept { done += 'p'; }
  static void yield() noexcept { done += 'y'; }
  static void nap(std::uint64_t nanoseconds) noexcept {
    done += 'n';
    napped_ns += nanoseconds;
  }
  static inline std::uint64_t napped_ns = 0;
};

class Waiting : public testing::Test {
 protected:
  void SetUp() override { Recorder::done.clear(); }
  void TearDown() override { set_oversubscribed(false); }

  BasicWaiter<Recorder> waiter;

  void wait(int turns) {
    for (int i = 0; i < turns; ++i) waiter.wait();
  }
};

TEST_F(Waiting, WithMoreRanksThanCoresYieldsAlmostAtOnceAndThenAlways) {
  set_oversubscribed(true);
  wait(6);
  EXPECT_EQ(Recorder::done, "ppyyyy");
}

TEST_F(Waiting, WithACoreForEachRankLooksAgainAtOnceThenSpinsLongAndYieldsRarely) {
  set_oversubscribed(false);
  wait(1024);
  EXPECT_EQ(Recorder::done, "");
  wait(4096 + 1 + 256 + 1);
  const std::string expected = std::string(4096, 'p') + "y" + std::string(256, 'p') + "y";
  EXPECT_TRUE(Recorder::done == expected);
}

TEST_F(Waiting, NapsOnceYieldsHaveNotHelped) {
  set_oversubscribed(true);
  wait(2 + 64);
  Recorder::done.clear();
  Recorder::napped_ns = 0;
  wait(7);
  EXPECT_EQ(Recorder::done, "nnnnnnn");
  EXPECT_EQ(Recorder::napped_ns, (50 + 100 + 200 + 400 + 800 + 800 + 800) * 1000U);
  waiter.reset();
  Recorder::done.clear();
  wait(3);
  EXPECT_EQ(Recorder::done, "ppy");
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
