#define GASNETT_THREAD_SAFE 1
#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int rounds = 20000;

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (std::thread& thread : running) thread.join();
}

TEST(ToolsAtomics, ValuesWrap) {
  gasnett_atomic_t a = gasnett_atomic_init(-1);
  EXPECT_EQ(gasnett_atomic_read(&a, 0), GASNETT_ATOMIC_MAX);
  EXPECT_EQ(gasnett_atomic_signed(gasnett_atomic_read(&a, 0)), -1);
  gasnett_atomic_increment(&a, 0);
  EXPECT_EQ(gasnett_atomic_read(&a, 0), 0u);
  EXPECT_EQ(gasnett_atomic_subtract(&a, 1, 0), GASNETT_ATOMIC_MAX);
  gasnett_atomic_set(&a, GASNETT_ATOMIC_SIGNED_MIN, 0);
  EXPECT_EQ(gasnett_atomic_signed(gasnett_atomic_subtract(&a, 1, 0)), GASNETT_ATOMIC_SIGNED_MAX);

  gasnett_atomic64_t b = gasnett_atomic64_init(UINT64_MAX);
  EXPECT_EQ(gasnett_atomic64_add(&b, 2, 0), 1u);
  EXPECT_EQ(gasnett_atomic64_subtract(&b, 3, 0), UINT64_MAX - 1);
  // Operands keep their upper half.
  EXPECT_EQ(gasnett_atomic64_add(&b, std::uint64_t{1} << 40, 0), (std::uint64_t{1} << 40) - 2);
}

TEST(ToolsAtomics, CompareAndSwapReportsAndLeavesAlone) {
  gasnett_atomic64_t a = gasnett_atomic64_init(std::uint64_t{5} << 32);
  EXPECT_EQ(gasnett_atomic64_compare_and_swap(&a, 0, 1, 0), 0);
  EXPECT_EQ(gasnett_atomic64_read(&a, 0), std::uint64_t{5} << 32);
  EXPECT_NE(gasnett_atomic64_compare_and_swap(&a, std::uint64_t{5} << 32, 1, 0), 0);
  EXPECT_EQ(gasnett_atomic64_read(&a, 0), 1u);
}

TEST(ToolsAtomics, DecrementAndTestIsTrueAtZeroOnly) {
  gasnett_atomic32_t a = gasnett_atomic32_init(2);
  EXPECT_FALSE(gasnett_atomic32_decrement_and_test(&a, 0));
  EXPECT_TRUE(gasnett_atomic32_decrement_and_test(&a, GASNETT_ATOMIC_ACQ_IF_TRUE));
  EXPECT_FALSE(gasnett_atomic32_decrement_and_test(&a, 0));
}

TEST(ToolsAtomics, OperateOnFloatingPointObjects) {
  double number = 1.5;
  double other = 2.5;
  std::uint64_t bits;
  static_assert(sizeof(gasnett_atomic64_t) == sizeof number);
  std::memcpy(&bits, &other, sizeof bits);
  gasnett_atomic64_set(reinterpret_cast<gasnett_atomic64_t*>(&number), bits, 0);
  EXPECT_EQ(number, 2.5);
  float single = 0.25f;
  EXPECT_EQ(gasnett_atomic32_read(reinterpret_cast<gasnett_atomic32_t*>(&single), 0), 0x3e800000u);
}

TEST(ToolsAtomics, ConcurrentUpdatesAreNotLost) {
  gasnett_atomic_t counter = gasnett_atomic_init(0);
  gasnett_atomic64_t sum = gasnett_atomic64_init(0);
  gasnett_strongatomic32_t swaps = gasnett_strongatomic32_init(0);
  gasnett_atomic32_t left = gasnett_atomic32_init(threads * rounds);
  gasnett_atomic_t zeros = gasnett_atomic_init(0);
  in_threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      gasnett_atomic_increment(&counter, 0);
      gasnett_atomic64_add(&sum, std::uint64_t{1} << 33, GASNETT_ATOMIC_MB_PRE);
      std::uint32_t seen;
      do {
        seen = gasnett_strongatomic32_read(&swaps, 0);
      } while (!gasnett_strongatomic32_compare_and_swap(&swaps, seen, seen + 3, 0));
      if (gasnett_atomic32_decrement_and_test(&left, 0)) gasnett_atomic_increment(&zeros, 0);
    }
  });
  EXPECT_EQ(gasnett_atomic_read(&counter, 0), std::uint32_t{threads} * rounds);
  EXPECT_EQ(gasnett_atomic64_read(&sum, 0), (std::uint64_t{threads} * rounds) << 33);
  EXPECT_EQ(gasnett_strongatomic32_read(&swaps, 0), std::uint32_t{3} * threads * rounds);
  EXPECT_EQ(gasnett_atomic_read(&zeros, 0), 1u);
}

// What is written before a release is seen after the acquire; ThreadSanitizer checks the same.
TEST(ToolsAtomics, ReleaseAndAcquireCarryData) {
  gasnett_atomic_t turn = gasnett_atomic_init(0);
  std::uint64_t payload = 0;
  std::uint64_t stale = 0;
  const auto play = [&](std::uint32_t who) {
    for (std::uint32_t round = 0; round < 2000; ++round) {
      const std::uint32_t mine = 2 * round + who;
      while (gasnett_atomic_read(&turn, GASNETT_ATOMIC_ACQ) != mine) gasnett_sched_yield();
      if (payload != mine) ++stale;
      payload = mine + 1;
      gasnett_atomic_set(&turn, mine + 1, GASNETT_ATOMIC_REL);
    }
  };
  std::thread other(play, 1u);
  play(0);
  other.join();
  EXPECT_EQ(stale, 0u);
  EXPECT_EQ(payload, 4000u);
}

TEST(ToolsAtomics, CompareAndSwapMakesALock) {
  gasnett_atomic_t lock = gasnett_atomic_init(0);
  std::uint64_t guarded = 0;
  in_threads([&](int) {
    for (int i = 0; i < rounds / 10; ++i) {
      while (!gasnett_atomic_compare_and_swap(&lock, 0, 1, GASNETT_ATOMIC_ACQ_IF_TRUE)) {
        gasnett_sched_yield();
      }
      ++guarded;
      gasnett_atomic_set(&lock, 0, GASNETT_ATOMIC_REL);
    }
  });
  EXPECT_EQ(guarded, std::uint64_t{threads} * (rounds / 10));
}

// Each thread stores and then reads the other's variable: with a full fence in between, at least
// one sees the other's store. x86 breaks this without the fence.
TEST(ToolsAtomics, FullFenceOrdersStoreBeforeLoad) {
  gasnett_atomic_t flags[2] = {gasnett_atomic_init(0), gasnett_atomic_init(0)};
  gasnett_atomic_t gate = gasnett_atomic_init(0);
  int missed = 0;
  std::uint32_t seen[2] = {1, 1};
  const std::uint32_t trials = 2000;
  const auto meet = [&](std::uint32_t goal) {
    gasnett_atomic_increment(&gate, GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST);
    for (int spins = 0; gasnett_atomic_read(&gate, GASNETT_ATOMIC_ACQ) < goal; ++spins) {
      if (spins > 100) gasnett_sched_yield();
    }
  };
  const auto play = [&](int who) {
    std::uint32_t goal = 0;
    for (std::uint32_t trial = 1; trial <= trials; ++trial) {
      meet(goal += 2);
      gasnett_atomic_set(&flags[who], trial, trial % 2 ? GASNETT_ATOMIC_MB_POST : 0);
      if (trial % 2 == 0) gasnett_local_mb();
      seen[who] = gasnett_atomic_read(&flags[1 - who], 0) == trial;
      meet(goal += 2);
      if (who == 0 && !seen[0] && !seen[1]) ++missed;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
