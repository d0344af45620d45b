#pragma once
// A doorbell: how the threads of a process sleep until another thread or process has stored
// something for them.
//
//   a sleeper                                     another thread
//     bell.sleep(limit, [] { return any(); });      stores something
//                                                   bell.ring();
//
// The other thread stores and then looks whether a sleeper sleeps; a sleeper notes that it sleeps
// and then looks whether there is something. Each needs its store to be seen before its look. The
// sleeper pays for both, by a fence in all processes that use the bell (base/os_process_fence.h),
// so that a ring costs one load of a line that hardly ever changes. A process that is not included
// in such fences makes its own.
//
// Two bits of the word show that threads may sleep: on the word itself, or one of them elsewhere,
// on descriptors that it was given by a network. A ring clears both and wakes all of them: who
// sleeps elsewhere by what the bell's `place` names. Each ring leaves another value, so a thread
// that has not gone to sleep yet does not.
//
// A sender of a message holds the address of its ring's cells, not that of the bell. Beside the
// cells of each ring lies a mark, which the sleepers set in all rings from which they take
// messages: a sender that finds it set clears it and rings the bell.
//
// Requires: in memory that is zero before its first use. Any number of threads of one process may
// sleep, unless one passes that it is the only one; `ring` may be called by any thread of any
// process.
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
  static void fetch_add_relaxed(Word& word, std::uint32_t value) noexcept {
    word.fetch_add(value, std::memory_order_relaxed);
  }
  static std::uint32_t fetch_or_relaxed(Word& word, std::uint32_t bits) noexcept {
    return word.fetch_or(bits, std::memory_order_relaxed);
  }
  static void fetch_or_release(Word& word, std::uint32_t bits) noexcept {
    word.fetch_or(bits, std::memory_order_release);
  }
  static void fetch_and_acquire(Word& word, std::uint32_t bits) noexcept {
    word.fetch_and(bits, std::memory_order_acquire);
  }
  static bool replace_relaxed(Word& word, std::uint32_t expected, std::uint32_t value) noexcept {
    return word.compare_exchange_strong(expected, value, std::memory_order_relaxed);
  }
  /// Nothing but an order for the compiler: the fence of the sleeper stands for it.
  static void ringer_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  /// A full fence on every thread of this process and of all that are included.
  static void shared_fence() noexcept { os::shared_fence(); }
  /// A full fence on this thread.
  static void own_fence() noexcept { os::own_fence(); }
  /// Reads the word behind a fence of the caller's own.
  static std::uint32_t load_behind_fence(Word& word) noexcept {
    return word.fetch_add(0, std::memory_order_seq_cst);
  }
  static void wait_while(const Word& word, std::uint32_t value, std::uint64_t limit_ns) noexcept {
    os::wait_while(word, value, limit_ns);
  }
  static void wake_waiters(const Word& word) noexcept { os::wake_waiters(word); }
  /// Ends a sleep that is not on the word.
  static void wake_elsewhere(std::uint32_t place) noexcept {
    if (waker != nullptr) waker(place);
  }
  /// How, in this process; set at start-up, before there are other threads.
  using Waker = void (*)(std::uint32_t place) noexcept;
  static inline constinit Waker waker = nullptr;
};

/// How many threads may sleep on a bell.
enum class Sleepers { one, many };

/// The fence between the store by which a thread is found asleep and its last look for work.
enum class SleepFence {
  shared,  ///< in all processes of the host: no ring is missed, where the bell is exact
  own,     ///< in this one: a ring that comes just then may be missed, no other is disturbed
};

/// All others ring the bell without one.
struct NoMarks {
  void operator()() const noexcept {}
};

/// The mark of a ring, beside its cells, in memory that is zero before its first use. Two lines,
/// because processors fetch lines by twos: one with a mark must not come with one of a cell.
template <class Policy>
class alignas(2 * cache_line) BasicSleepMark {
 public:
  /// As of the bell.
  void clear() noexcept { Policy::store_relaxed(word_, 0); }

  /// By a sleeper whose bell has it asleep. A mark that is set already is set again: a sender that
  /// is about to clear it either does so before, or finds the sleeper asleep. Release, for that.
  void set() noexcept { Policy::fetch_or_release(word_, sleeps); }
  /// By a sender whose process the fences of sleepers do not include, before it sends: it rings
  /// after each message.
  void keep_set() noexcept { Policy::fetch_or_release(word_, always); }

  /// By a sender that has published a message: whether it is to ring the consumer's bell, after it
  /// has called `take`. One load.
  bool is_set() noexcept {
    // As in Doorbell::ring.
    Policy::ringer_fence();
    return Policy::load_relaxed(word_) != 0;
  }
  /// Acquire: see `set`.
  void take() noexcept { Policy::fetch_and_acquire(word_, ~sleeps); }

 private:
  static constexpr std::uint32_t sleeps = 1;
  static constexpr std::uint32_t always = 2;

  typename Policy::Word word_;
};

template <class Policy>
class alignas(cache_line) BasicDoorbell {
 public:
  /// Makes zero of memory that is not; before the first use.
  void clear() noexcept {
    Policy::store_relaxed(word_, 0);
    Policy::store_relaxed(place_, 0);
  }

  /// Where a thread sleeps that sleeps elsewhere. At start-up, before any other process rings.
  void set_place(std::uint32_t place) noexcept { Policy::store_relaxed(place_, place); }

  /// Wakes the sleepers, if there are any. What the caller stored before is seen by them.
  void ring() noexcept {
    // The fence of the sleeper stands between what was stored before and this load.
    Policy::ringer_fence();
    const std::uint32_t word =
        Policy::has_fence() ? Policy::load_relaxed(word_) : Policy::load_behind_fence(word_);
    if ((word & (asleep | elsewhere)) != 0) [[unlikely]]
      wake(word);
  }

  /// Sleeps until a ring, at most `limit_ns` (0: without a limit, only where `is_exact`); not if
  /// `has_work()`, which is asked once it is certain that a thread which stores something later
  /// will find the sleeper asleep. `sleepers`: one if no other thread sleeps here; where there are
  /// many, a ring may find one that has left. `set_marks()` sets those by which others find that
  /// they are to ring this bell. `fence`: own only for a sleep with a limit that a missed ring may
  /// cost.
  template <class HasWork, class SetMarks = NoMarks>
  void sleep(std::uint64_t limit_ns, HasWork has_work, Sleepers sleepers = Sleepers::one,
             SetMarks set_marks = {}, SleepFence fence = SleepFence::shared) noexcept {
    const std::uint32_t word = Policy::fetch_or_relaxed(word_, asleep) | asleep;
    set_marks();
    fence_before_last_look(fence);
    if (!has_work()) Policy::wait_while(word_, word, limit_ns);
    // As by a ring, but that there is no other sleeper to be woken.
    if (sleepers == Sleepers::one) Policy::replace_relaxed(word_, word, rung(word));
  }

  /// Sleeps as `sleep` does, but in `wait()`, which `Policy::wake_elsewhere` ends, also if it comes
  /// before. One thread at a time.
  template <class HasWork, class Wait, class SetMarks = NoMarks>
  void sleep_elsewhere(HasWork has_work, Wait wait, SetMarks set_marks = {},
                       SleepFence fence = SleepFence::shared) noexcept {
    Policy::fetch_or_relaxed(word_, elsewhere);
    set_marks();
    fence_before_last_look(fence);
    if (!has_work()) wait();
    Policy::fetch_and_acquire(word_, ~elsewhere);
  }

  /// By one who is to be woken elsewhere, without a sleep around which this call would be: asks for
  /// that. Returns true if it was asked for before and nothing has rung since: the caller, who has
  /// looked for work since then, may sleep. Otherwise it has to look again. One thread at a time.
  bool arm_elsewhere() noexcept {
    if ((Policy::fetch_or_relaxed(word_, elsewhere) & elsewhere) != 0) return true;
    fence_before_last_look();
    return false;
  }

  /// Wakes the threads that sleep on the word.
  void ring_for_others() noexcept {
    Policy::own_fence();
    const std::uint32_t word = Policy::load_relaxed(word_);
    if ((word & asleep) != 0) wake(word);
  }

  /// Returns true if no ring is missed. Otherwise a sleeper may miss one of a process that has
  /// fences.
  static bool is_exact() noexcept { return Policy::has_fence(); }

 private:
  static constexpr std::uint32_t asleep = 1;
  static constexpr std::uint32_t elsewhere = 2;
  /// By a sleeper, between its note that it sleeps and its last look: for ringers too where it can.
  static void fence_before_last_look(SleepFence fence = SleepFence::shared) noexcept {
    if (fence == SleepFence::shared && is_exact())
      Policy::shared_fence();
    else
      Policy::own_fence();
  }
  /// The word after a ring.
  static constexpr std::uint32_t rung(std::uint32_t word) noexcept {
    return (word | asleep | elsewhere) + 1;
  }

  [[gnu::noinline, gnu::cold]] void wake(std::uint32_t word) noexcept {
    // One of those that ring makes the system calls; where another one did, what the caller has
    // stored is seen behind the fences of all who sleep now. But the word also changes when a
    // thread begins or ends to sleep beside another, which must be woken all the same. Relaxed: the
    // message that a sleeper then finds has its own order.
    while (!Policy::replace_relaxed(word_, word, rung(word))) {
      word = Policy::load_relaxed(word_);
      if ((word & (asleep | elsewhere)) == 0) return;
    }
    if ((word & asleep) != 0) Policy::wake_waiters(word_);
    if ((word & elsewhere) != 0) Policy::wake_elsewhere(Policy::load_relaxed(place_));
  }

  typename Policy::Word word_;
  typename Policy::Word place_;
};

/// How many threads sleep on any of some bells, for those that would ring all of them. A process
/// that the fences of sleepers do not include counts as one from its start to its end, so that it
/// always rings.
template <class Policy>
class alignas(cache_line) BasicSleeperCount {
 public:
  /// As of the bell.
  void clear() noexcept { Policy::store_relaxed(count_, 0); }

  /// Around a sleep.
  void begin() noexcept { Policy::fetch_add_relaxed(count_, 1); }
  void end() noexcept { Policy::fetch_add_relaxed(count_, ~std::uint32_t{0}); }
  /// Returns true if there may be any who have not seen what the caller stored before.
  bool any() noexcept {
    // As in Doorbell::ring.
    Policy::ringer_fence();
    return Policy::load_relaxed(count_) != 0;
  }

 private:
  typename Policy::Word count_;
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
using SleepMark = BasicSleepMark<StdBell>;
using SleeperCount = BasicSleeperCount<StdBell>;
using BellPlace = BasicBellPlace<StdBell>;

}  // namespace gex::shm
