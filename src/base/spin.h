#pragma once
// Waiting for another rank or thread without sleeping in the kernel.
//
// A waiting rank never blocks in the kernel for a message: the wake-up would cost every sender a
// fence and a system call. It spins, and when its turn seems long it offers the core to others.
// How long it spins is one decision for the whole process, made at start from the number of ranks
// per usable core (`set_oversubscribed`): with a core for each rank a yield only delays the moment
// the message is seen, with more ranks than cores every moment of spinning is taken from the rank
// that is waited for; unless that one is known to run on another core, where a yield would not help
// it.
//
//   Waiter waiter;
//   while (!done()) {
//     if (poll()) waiter.reset();
//     else waiter.wait();
//   }
//
// The condition must be read again after every `wait` and every poll.

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
/// A few microseconds: as others' turns on their core take, or they have moved to this one.
inline constexpr SpinLimits patient{0, 256, 32};
/// About a microsecond of nothing but polls; seldom between those of a client that computes.
inline constexpr SpinLimits crowded_client{64, 64, 64};
/// Some ten microseconds: there is a core for each rank, but perhaps not for each of its threads.
inline constexpr SpinLimits roomy_client{1024, 1024, 1024};

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
};

/// The state of one wait: a counter. Cheap to make; one per wait, used by one thread.
template <class Actions>
class BasicWaiter {
 public:
  constexpr BasicWaiter() = default;
  /// Goes on with a wait whose state was kept outside.
  explicit BasicWaiter(std::uint32_t turns) noexcept : turns_(turns) {}
  std::uint32_t turns() const noexcept { return turns_; }

  /// One turn: a pause, or a yield of the core when this wait has lasted. Orders no memory. True if
  /// the core was given up.
  bool wait() noexcept { return turn(oversubscribed() ? detail::crowded : detail::roomy); }
  /// One turn of a wait for something that comes from other cores only.
  bool wait_for_other_cores() noexcept {
    return turn(oversubscribed() ? detail::patient : detail::roomy);
  }
  /// One turn of a loop of the client's, which may wait for something and may do other work.
  bool wait_for_client() noexcept {
    return turn(oversubscribed() ? detail::crowded_client : detail::roomy_client);
  }

  /// Something arrived: the next turns spin again.
  void reset() noexcept { turns_ = 0; }

 private:
  bool turn(const detail::SpinLimits& limits) noexcept {
    if (turns_ < limits.first) [[likely]] {
      if (++turns_ > limits.bare) Actions::pause();
      return false;
    }
    turns_ = limits.first - limits.between;
    Actions::yield();
    return true;
  }

  std::uint32_t turns_ = 0;
};

using Waiter = BasicWaiter<WaitActions>;

}  // namespace gex
