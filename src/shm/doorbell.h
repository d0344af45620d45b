#pragma once
// A doorbell: how a thread sleeps until another thread or process has stored something for it.
//
//   the sleeper                                   another thread
//     bell.sleep(limit, [] { return any(); });      stores something
//                                                   bell.ring();
//
// The other thread stores and then looks whether the sleeper sleeps; the sleeper notes that it
// sleeps and then looks whether there is something. Each needs its store to be seen before its
// look. The sleeper pays for both, by a fence in all processes that use the bell
// (base/os_process_fence.h), so that a ring costs one load of a line that hardly ever changes. A
// process that is not included in such fences makes its own.
//
// Requires: in memory that is zero before its first use; one thread sleeps at a time. `ring` may be
// called by any thread of any process.
//
// Template over a policy, so that an interleaving explorer runs the same text
// (tests/unit/shm_doorbell_relacy).

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/os_futex.h"
#include "base/os_process_fence.h"

namespace gex::shm {

/// The policy for real use.
struct StdBell {
  using Word = std::atomic<std::uint32_t>;
  template <class T>
  using Pointer = std::atomic<T*>;

  /// Returns true if the fences of sleepers include this process.
  static bool has_fence() noexcept { return os::has_shared_fence(); }
  template <class T>
  static T* load_acquire(const std::atomic<T*>& pointer) noexcept {
    return pointer.load(std::memory_order_acquire);
  }
  template <class T>
  static void store_release(std::atomic<T*>& pointer, T* value) noexcept {
    pointer.store(value, std::memory_order_release);
  }
  static std::uint32_t load_relaxed(const Word& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  static void store_relaxed(Word& word, std::uint32_t value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  static std::uint32_t exchange_relaxed(Word& word, std::uint32_t value) noexcept {
    return word.exchange(value, std::memory_order_relaxed);
  }
  /// Nothing but an order for the compiler: the fence of the sleeper stands for it.
  static void ringer_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void sleeper_fence() noexcept { os::shared_fence(); }
  /// Reads the word behind a fence of the caller's own.
  static std::uint32_t load_behind_fence(Word& word) noexcept {
    return word.fetch_add(0, std::memory_order_seq_cst);
  }
  static void wait_while(const Word& word, std::uint32_t value, std::uint64_t limit_ns) noexcept {
    os::wait_while(word, value, limit_ns);
  }
  static void wake_waiters(const Word& word) noexcept { os::wake_waiters(word); }
};

template <class Policy>
class alignas(cache_line) BasicDoorbell {
 public:
  /// Wakes the sleeper, if there is one. What the caller stored before is seen by it.
  void ring() noexcept {
    // The fence of the sleeper stands between what was stored before and this load.
    Policy::ringer_fence();
    if (Policy::has_fence() ? Policy::load_relaxed(asleep_) != no
                            : Policy::load_behind_fence(asleep_) != no) [[unlikely]]
      wake();
  }

  /// Sleeps until a ring, at most `limit_ns` (0: without a limit, only where `is_exact`); not if
  /// `has_work()`, which is asked once it is certain that a thread which stores something later
  /// will find the sleeper asleep.
  template <class HasWork>
  void sleep(std::uint64_t limit_ns, HasWork has_work) noexcept {
    Policy::store_relaxed(asleep_, yes);
    if (is_exact()) Policy::sleeper_fence();
    if (!has_work()) Policy::wait_while(asleep_, yes, limit_ns);
    Policy::store_relaxed(asleep_, no);
  }

  /// Returns true if no ring is missed. Otherwise the sleeper may miss one.
  static bool is_exact() noexcept { return Policy::has_fence(); }

 private:
  static constexpr std::uint32_t no = 0;
  static constexpr std::uint32_t yes = 1;

  [[gnu::noinline, gnu::cold]] void wake() noexcept {
    // One of those that ring makes the system call. Relaxed: the message that the sleeper then
    // finds has its own order.
    if (Policy::exchange_relaxed(asleep_, no) != no) Policy::wake_waiters(asleep_);
  }

  typename Policy::Word asleep_;
};

/// Where threads of the sleeper's process find its bell, once there is a sleeper.
template <class Policy>
class BasicBellPlace {
 public:
  /// By the sleeper, before it looks for work for the first time.
  void set(BasicDoorbell<Policy>& bell) noexcept { Policy::store_release(bell_, &bell); }

  /// As of the bell. A sleeper that comes later finds what the caller stored before.
  void ring() noexcept {
    // As in Doorbell::ring: a sleeper whose bell is not found here has its fence still before it.
    Policy::ringer_fence();
    // Acquire: a thread that finds the bell finds the memory in which it lies.
    if (BasicDoorbell<Policy>* const bell = Policy::load_acquire(bell_)) bell->ring();
  }

 private:
  typename Policy::template Pointer<BasicDoorbell<Policy>> bell_{nullptr};
};

using Doorbell = BasicDoorbell<StdBell>;
static_assert(sizeof(Doorbell) == cache_line);
using BellPlace = BasicBellPlace<StdBell>;

}  // namespace gex::shm
