#pragma once
// Waiting for another rank or thread without being woken by it.
//
// A waiting rank never blocks in the kernel until a message comes: the wake-up would cost every
// sender a fence and a system call. It spins, and when its turn seems long it offers the core to
// others. How long it spins is one decision for the whole process, made at start from the number of
// ranks per usable core (`set_oversubscribed`): with a core for everybody a yield only delays the
// moment the message is seen, with more ranks than cores every moment of spinning is taken from the
// rank that is waited for; unless the waiter knows that those it waits for run on other cores,
// where a yield would not help them.
//
// With more ranks than cores a wait that has lasted goes on in naps. A yield is no promise: the
// scheduler may come back to those who yield, over and over, while a process that has work to do is
// ready (Linux 6.18 kept one so for 20 s). Who naps is out of its way. The naps grow with the wait,
// and are the longer the more ranks there are for a core (`set_nap_unit`), or the wake-ups of many
// that wait would be taken from those who compute. Nobody is woken for a message, so senders pay
// nothing.
//
//   Waiter waiter;
//   while (!done()) {
//     if (poll()) waiter.reset();
//     else waiter.wait();
//   }
//
// The condition must be read again after every `wait` and every poll.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/os_cpu.h"

namespace gex {

/// Tells the processor that this is a spin loop: about 10 to 150 cycles, less power, and a sibling
/// hardware thread runs faster. Orders no memory.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

namespace detail {
struct SpinLimits {
  std::uint32_t bare;     ///< turns that only return, so that the next look comes as soon as it can
  std::uint32_t first;    ///< turns before the first rest, which is a yield or a nap
  std::uint32_t between;  ///< turns between one rest and the next
  std::uint32_t yields;   ///< rests that are yields; those after them are naps
};
/// More than a waiter counts.
inline constexpr std::uint32_t all_rests = 0x10000;
inline constexpr SpinLimits roomy{1024, 5120, 256, all_rests};
inline constexpr SpinLimits crowded{0, 2, 0, 64};
/// A few microseconds: as others' turns on their core take, or they have moved to this one.
inline constexpr SpinLimits patient{0, 256, 32, 64};

/// The first nap is a unit, and each that follows a unit longer than the one before, up to so many.
/// After n naps half the square of n units has been waited for, so that they become a small part
/// of it.
inline constexpr std::uint32_t longest_nap_units = 100;

/// A wake-up costs up to 10 us of a core: ranks that all take their longest naps take a third of
/// it, at most. Longer naps would be added to what passes from rank to rank.
inline constexpr std::uint32_t least_nap_unit_us = 10;
inline constexpr std::uint32_t ranks_for_least_nap_unit = 32;

/// What `set_oversubscribed`, `set_nap_unit` and `set_short_naps` said last.
inline std::atomic<bool> oversubscribed{false};
inline std::atomic<std::uint32_t> nap_unit_us{least_nap_unit_us};
inline std::atomic<bool> short_naps{false};
}  // namespace detail

/// Says whether more ranks wait on this host than it has usable cores. Called once at start, before
/// anybody waits; later calls are seen by each waiter at some later turn.
inline void set_oversubscribed(bool oversubscribed) noexcept {
  // Relaxed: the flag carries no other data with it.
  detail::oversubscribed.store(oversubscribed, std::memory_order_relaxed);
}

inline bool oversubscribed() noexcept {
  return detail::oversubscribed.load(std::memory_order_relaxed);
}

/// Says how many ranks wait on this host, and on how many usable cores: naps last 10 us, 20 us ...
/// 1 ms with up to 32 ranks for a core, with more in proportion longer. Otherwise as
/// `set_oversubscribed`.
inline void set_nap_unit(std::size_t ranks, std::uint32_t cores) noexcept {
  const std::size_t unit =
      detail::least_nap_unit_us * ranks / (std::size_t{detail::ranks_for_least_nap_unit} * cores);
  // Relaxed: as above.
  detail::nap_unit_us.store(std::max(detail::least_nap_unit_us, static_cast<std::uint32_t>(unit)),
                            std::memory_order_relaxed);
}

/// Says whether naps stay as short as the first: where others need this process's looks, and none
/// of them shows that it was needed. Otherwise as `set_oversubscribed`.
inline void set_short_naps(bool short_naps) noexcept {
  // Relaxed: as above.
  detail::short_naps.store(short_naps, std::memory_order_relaxed);
}

/// What a waiter does with its turns outside of tests.
struct WaitActions {
  static void pause() noexcept { spin_pause(); }
  static void yield() noexcept { os::yield(); }
  static void nap(std::uint32_t us) noexcept { os::nap(us); }
};

/// The state of one wait: a word, which stays in a register. Cheap to make; one per wait, used by
/// one thread.
template <class Actions>
class BasicWaiter {
 public:
  BasicWaiter() = default;
  /// Goes on with a wait whose state was kept outside: 0, or what `state` said last.
  explicit BasicWaiter(std::uint32_t state) noexcept : state_(state) {}
  std::uint32_t state() const noexcept { return state_; }

  /// One turn: a pause, or when this wait has lasted a yield of the core, or a nap. Orders no
  /// memory.
  void wait() noexcept { turn(oversubscribed() ? detail::crowded : detail::roomy); }
  /// The same for what comes from other cores only.
  void wait_for_other_cores() noexcept { turn(oversubscribed() ? detail::patient : detail::roomy); }

  /// Something arrived: the next turns spin again.
  void reset() noexcept { state_ = 0; }

 private:
  void turn(const detail::SpinLimits& limits) noexcept {
    const std::uint32_t turns = state_ % one_rest;
    if (turns < limits.first) [[likely]] {
      ++state_;
      if (turns >= limits.bare) Actions::pause();
      return;
    }
    const std::uint32_t rests = state_ / one_rest;
    state_ = limits.first - limits.between;
    if (rests < limits.yields) [[likely]] {
      state_ += (rests + 1) * one_rest;
      Actions::yield();
    } else {
      state_ += (limits.yields + nap(rests - limits.yields)) * one_rest;
    }
  }

  /// After so many others; how many they are now, as far as they grow.
  [[gnu::cold, gnu::noinline]] static std::uint32_t nap(std::uint32_t others) noexcept {
    const bool grow = !detail::short_naps.load(std::memory_order_relaxed);
    const std::uint32_t units = grow ? std::min(others + 1, detail::longest_nap_units) : 1;
    Actions::nap(units * detail::nap_unit_us.load(std::memory_order_relaxed));
    return units;
  }

  static constexpr std::uint32_t one_rest = 0x10000;

  /// Turns since the last rest, and rests.
  std::uint32_t state_ = 0;
};

using Waiter = BasicWaiter<WaitActions>;

}  // namespace gex
