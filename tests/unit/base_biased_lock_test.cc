// The biased lock between real threads, with the fence of the system.

#include "base/biased_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gex {
namespace {

using Hold = BiasedLock::Hold;

TEST(ProcessFence, IsHadHere) {
  // Linux has had it since 4.14; where it is refused no lock is biased, and this test says so.
  ASSERT_TRUE(os::enable_process_fence());
  EXPECT_TRUE(os::has_process_fence());
  os::process_fence();
}

TEST(BiasedLock, IsBiasedToItsHomeUntilAnotherLocks) {
  if (!StdBias::is_possible()) GTEST_SKIP() << "no lock is biased under ThreadSanitizer";
  BiasedLock lock;
  lock.set_home(1);
  EXPECT_EQ(lock.try_lock(1), Hold::biased);
  EXPECT_EQ(lock.try_lock(2), Hold::none);
  lock.unlock(Hold::biased);
  EXPECT_EQ(lock.try_lock(2), Hold::shared);
  EXPECT_EQ(lock.try_lock(1), Hold::none);
  lock.unlock(Hold::shared);
  for (std::uint32_t turn = 0; turn < StdBias::turns_to_bias; ++turn) {
    ASSERT_EQ(lock.try_lock(1), Hold::shared) << turn;
    lock.unlock(Hold::shared);
  }
  EXPECT_EQ(lock.try_lock(1), Hold::biased);
  lock.unlock(Hold::biased);
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
