#pragma once
// The policy of the doorbell (shm/doorbell.h) under the interleaving explorer.

#include <cstdint>

#include "relacy_atomics.h"

namespace gex::interleavings {

/// The fence in all processes stands for one in each that it concerns. A thread that sleeps and is
/// never woken is a deadlock.
struct RelacyBell : RelacyAtomics {
  template <class T>
  using Pointer = rl::atomic<T*>;
  static bool has_fence() { return true; }
  static void ringer_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
  static void shared_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
  static void own_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
  static std::uint32_t fetch_or_relaxed(Word& word, std::uint32_t bits) {
    return word(RL_INFO).fetch_or(bits, rl::mo_relaxed);
  }
  static void fetch_and_acquire(Word& word, std::uint32_t bits) {
    word(RL_INFO).fetch_and(bits, rl::mo_acquire);
  }
  static bool replace_relaxed(Word& word, std::uint32_t expected, std::uint32_t value) {
    return word(RL_INFO).compare_exchange_strong(expected, value, rl::mo_relaxed);
  }
  static std::uint32_t load_behind_fence(Word& word) {
    return word(RL_INFO).fetch_add(0, rl::mo_seq_cst);
  }
  static void wait_while(Word& word, std::uint32_t value, std::uint64_t limit_ns) {
    rl::context& context = rl::ctx();
    context.sched();
    {
      // The kernel compares and parks at once, and sees the last value: as such an addition does.
      const rl::preemption_disabler at_once(context);
      if (word(RL_INFO).fetch_add(0, rl::mo_relaxed) != value) return;
    }
    word.wait(context, /*is_timed=*/limit_ns != 0, /*allow_spurious_wakeup=*/false, RL_INFO);
  }
  static constexpr unsigned all = 64;
  static void wake_waiters(Word& word, unsigned count = all) {
    rl::context& context = rl::ctx();
    context.sched();
    word.wake(context, count, RL_INFO);
  }

  /// The word on which a thread sleeps that sleeps elsewhere: how often it was woken. A suite sets
  /// it.
  static inline Word* elsewhere = nullptr;
  static void wake_elsewhere(std::uint32_t) {
    (*elsewhere)(RL_INFO).fetch_add(1, rl::mo_relaxed);
    wake_waiters(*elsewhere);
  }
  /// Sleeps there, and takes in what has woken it.
  static void sleep_elsewhere() {
    wait_while(*elsewhere, 0, 0);
    (*elsewhere)(RL_INFO).exchange(0, rl::mo_relaxed);
  }
};

/// Seeded bugs of order.
struct NoRingerFence : RelacyBell {
  static void ringer_fence() {}
};
struct NoSleeperFence : RelacyBell {
  static void shared_fence() {}
};

/// Returns true if a sleeper was not woken.
inline bool is_lost_wake(const std::string& result) {
  return result == "DEADLOCK";
}

}  // namespace gex::interleavings
