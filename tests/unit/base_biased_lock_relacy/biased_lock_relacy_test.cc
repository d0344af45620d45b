// The biased lock under an interleaving explorer: three threads add to a number under the lock,
// while its bias goes from one to another. The shipping algorithm must survive; variants with one
// seeded bug each must not.

#include "base/biased_lock.h"

#include "../interleavings.h"
#include "../relacy_atomics.h"

namespace gex {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;

struct RelacyBias : interleavings::RelacyAtomics {
  static constexpr std::uint32_t turns_to_bias = 2;

  static bool is_possible() { return true; }
  /// The fence in all threads stands for one in each that it concerns.
  static void home_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
  static void revoker_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
};

/// Seeded bugs.
struct NoFenceAtHome : RelacyBias {
  static void home_fence() {}
};
struct NoFenceOfRevoker : RelacyBias {
  static void revoker_fence() {}
};
struct NoRelease : RelacyBias {
  template <class T>
  static void store_release(rl::atomic<T>& word, std::type_identity_t<T> value) {
    store_relaxed(word, value);
  }
};
struct NoAcquire : RelacyBias {
  template <class T>
  static T load_acquire(const rl::atomic<T>& word) {
    return load_relaxed(word);
  }
};

/// The first thread has time to become the lock's home, and so has another after it.
template <class Policy>
struct Increments : rl::test_suite<Increments<Policy>, 3> {
  using Lock = BasicBiasedLock<Policy>;
  static constexpr unsigned turns_of[3] = {5, 4, 1};
  Lock lock;
  rl::var<unsigned> sum;

  void before() { sum(RL_INFO) = 0; }
  void thread(unsigned index) {
    rl::linear_backoff wait;
    for (unsigned i = 0; i < turns_of[index];) {
      const typename Lock::Hold hold = lock.try_lock(index + 1);
      if (!hold) {
        wait.yield(RL_INFO);
        continue;
      }
      sum(RL_INFO) = sum(RL_INFO) + 1;
      lock.unlock(hold);
      ++i;
    }
  }
  void after() { RL_ASSERT(sum(RL_INFO) == turns_of[0] + turns_of[1] + turns_of[2]); }
};

TEST(BiasedLockInterleavings, OneThreadAtATimeHoldsIt) {
  EXPECT_EQ((explore<Increments<RelacyBias>>()), "");
}
TEST(BiasedLockSeededBug, NoFenceAtHomeIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Increments<NoFenceAtHome>>()));
}
TEST(BiasedLockSeededBug, NoFenceOfTheRevokerIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Increments<NoFenceOfRevoker>>()));
}
TEST(BiasedLockSeededBug, NoReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Increments<NoRelease>>()));
}
TEST(BiasedLockSeededBug, NoAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Increments<NoAcquire>>()));
}

}  // namespace
}  // namespace gex
