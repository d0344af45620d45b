// The biased lock between real threads, with the fence of the system.

#include "base/biased_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gex {
namespace {

using Hold = BiasedLock::Hold;

/// Locks and unlocks so often that the thread has the bias.
void become_home(BiasedLock& lock, std::uint32_t number) {
  for (std::uint32_t turn = 0; turn < StdBias::turns_to_bias; ++turn) {
    const Hold hold = lock.try_lock(number);
    ASSERT_TRUE(hold && !hold.is_biased()) << turn;
    lock.unlock(hold);
  }
}

TEST(ProcessFence, IsHadHere) {
  // Linux has had it since 4.14; where it is refused no lock is biased, and this test prints it.
  ASSERT_TRUE(os::enable_process_fence());
  EXPECT_TRUE(os::has_process_fence());
  os::process_fence();
}

TEST(BiasedLock, IsBiasedToWhoTakesItOftenUntilAnotherDoes) {
  os::enable_process_fence();
  if (!StdBias::is_possible()) GTEST_SKIP() << "no lock is biased under ThreadSanitizer";
  BiasedLock lock;
  // One after the other, more threads than can be its home.
  for (std::uint32_t number = 1; number <= BiasedLock::places; ++number) {
    become_home(lock, number);
    Hold home = lock.try_lock(number);
    ASSERT_TRUE(home.is_biased());
    EXPECT_FALSE(lock.try_lock(9)) << "held by its home";
    lock.unlock(home);
    const Hold other = lock.try_lock(9);
    ASSERT_TRUE(other && !other.is_biased());
    EXPECT_FALSE(lock.try_lock(number)) << "held by another";
    lock.unlock(other);
    become_home(lock, number);
    home = lock.try_lock(number);
    EXPECT_TRUE(home.is_biased()) << "the bias comes back";
    lock.unlock(home);
    const Hold next = lock.try_lock(9);
    lock.unlock(next);
  }
  become_home(lock, 8);
  const Hold hold = lock.try_lock(8);
  EXPECT_TRUE(hold && !hold.is_biased()) << "there are no more places";
  lock.unlock(hold);
}

TEST(BiasedLock, HoldsThreadsApart) {
  constexpr int turns = 100000;
  BiasedLock lock;
  long sum = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t number = 1; number <= 3; ++number) {
    threads.emplace_back([&, number] {
      // The others come now and then, so that the bias comes and goes.
      for (int i = 0; i < (number == 1 ? turns : turns / 1000); ++i) {
        const Hold hold = lock.lock(number);
        ++sum;
        lock.unlock(hold);
        if (number != 1) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, turns + 2 * (turns / 1000));
}

}  // namespace
}  // namespace gex
