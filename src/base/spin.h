#pragma once
// Waiting for another thread for a short time, as for a lock, and what a spin loop is made of.
// Waits for messages are in base/patience.h.
//
// How long a waiter spins is one decision for the whole process, made at start from the number of
// ranks per usable core (`set_oversubscribed`): with a core for each rank a yield only delays the
// moment at which it sees what it waits for, with more ranks than cores every moment of spinning is
// taken from the one that is waited for.
//
//   Waiter waiter;
//   while (!done()) waiter.wait();
//
// The condition must be read again after every `wait`.

#include <atomic>
#include <cstdint>

#include "base/os_cpu.h"

namespace gex {

/// Hints to the processor that this is a spin loop: about 10 to 150 cycles, less power, and a
/// sibling hardware thread runs faster. Orders no memory.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

namespace detail {
/// Turns of `Waiter::wait` that only return, so that the next look comes as soon as it can; turns
/// before the first yield; and turns between one yield and the next.
struct SpinLimits {
  std::uint32_t bare;
  std::uint32_t first;
  std::uint32_t between;
};
inline constexpr SpinLimits roomy{1024, 5120, 256};
inline constexpr SpinLimits crowded{0, 2, 0};
/// The last argument of `set_oversubscribed`.
inline std::atomic<bool> oversubscribed{false};
}  // namespace detail

/// Sets whether more ranks wait on this host than it has usable cores. Called once at start, before
/// any wait; later calls are seen by each waiter at some later turn.
inline void set_oversubscribed(bool oversubscribed) noexcept {
  // Relaxed: the flag carries no other data with it.
  detail::oversubscribed.store(oversubscribed, std::memory_order_relaxed);
}

inline bool oversubscribed() noexcept {
  return detail::oversubscribed.load(std::memory_order_relaxed);
}

/// A waiter calls these functions with its turns, but for tests.
struct WaitActions {
  static void pause() noexcept { spin_pause(); }
  static void yield() noexcept { os::yield(); }
  static void nap(std::uint64_t nanoseconds) noexcept { os::nap(nanoseconds); }
};

/// The state of one wait: counters. Cheap to make; one per wait, used by one thread.
template <class Actions>
class BasicWaiter {
 public:
  constexpr BasicWaiter() = default;

  /// One turn: a pause; a yield of the core when this wait has lasted; and after some of those a
  /// nap, because the holder of a lock may have lost its core to another program, and a yield here
  /// gives it none. Orders no memory. True if the core was given up.
  bool wait() noexcept { return turn(oversubscribed() ? detail::crowded : detail::roomy); }
  /// Something arrived: the next turns spin again.
  void reset() noexcept { turns_ = yields_ = 0; }

 private:
  /// They take some 100 us, or as many time slices of others.
  static constexpr std::uint32_t yields_before_nap = 64;
  /// Each nap is twice as long as the one before, so that it at most doubles the wait.
  static constexpr std::uint64_t min_nap_ns = 50'000;
  static constexpr std::uint32_t max_doublings = 4;

  bool turn(const detail::SpinLimits& limits) noexcept {
    if (turns_ < limits.first) [[likely]] {
      if (++turns_ > limits.bare) Actions::pause();
      return false;
    }
    turns_ = limits.first - limits.between;
    if (yields_ < yields_before_nap) {
      Actions::yield();
      ++yields_;
    } else {
      Actions::nap(min_nap_ns << (yields_ - yields_before_nap));
      if (yields_ < yields_before_nap + max_doublings) ++yields_;
    }
    return true;
  }

  std::uint32_t turns_ = 0;
  std::uint32_t yields_ = 0;
};

using Waiter = BasicWaiter<WaitActions>;

}  // namespace gex
