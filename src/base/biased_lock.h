#pragma once
// A lock for a few instructions that one thread takes again and again, and others seldom or never.
//
// One thread is the lock's home, and the lock is biased to it: it locks and unlocks with plain
// stores. A locked instruction would wait for all stores before it, which are on
// their way to lines that other cores hold: that is most of the cost of a message. Another thread
// that wants the lock revokes the bias: then it is a spin lock, until the home thread has taken it
// some hundred times in a row.
//
// Home and revoker decide by Dekker's rule: the home thread stores that it is inside and then looks
// whether the lock is still biased; the revoker ends the bias and then looks whether the home
// thread is inside. Each needs its store to be seen before its look. The revoker pays for both, by
// a fence in all threads of the process (base/os_process_fence.h); where there is none no lock is
// biased.
//
// Template over an atomics policy, so that an interleaving explorer runs the same text
// (tests/unit/base_biased_lock_relacy).

#include <atomic>
#include <cstdint>

#include "base/os_process_fence.h"
#include "base/spin.h"
#include "base/tsan.h"

namespace gex {

/// The policy for real use.
struct StdBias {
  using Word = std::atomic<std::uint32_t>;
  using Flag = std::atomic<bool>;
  /// Memory that is never touched by two threads at once.
  template <class T>
  using Plain = T;
  /// The home thread has its bias again after so many turns that it held the lock in a row.
  static constexpr std::uint32_t turns_to_bias = 256;

  /// ThreadSanitizer does not know fences.
  static bool is_possible() noexcept { return !under_tsan && os::has_process_fence(); }
  template <class T>
  static T load_relaxed(const std::atomic<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  template <class T>
  static T load_acquire(const std::atomic<T>& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  template <class T>
  static void store_relaxed(std::atomic<T>& word, T value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  template <class T>
  static void store_release(std::atomic<T>& word, T value) noexcept {
    word.store(value, std::memory_order_release);
  }
  template <class T>
  static T exchange_acquire(std::atomic<T>& word, T value) noexcept {
    return word.exchange(value, std::memory_order_acquire);
  }
  template <class T>
  static T read(const T& plain) noexcept {
    return plain;
  }
  template <class T>
  static void write(T& plain, T value) noexcept {
    plain = value;
  }
  /// Nothing but an order for the compiler: the fence of the other side stands for it.
  static void home_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void revoker_fence() noexcept { os::process_fence(); }
};

template <class Policy>
class BasicBiasedLock {
 public:
  /// How the calling thread holds the lock, if it does.
  enum class Hold : std::uint8_t { none, biased, shared };

  /// Makes thread `number` the home; before any thread locks. Else the first that locks is.
  void set_home(std::uint32_t number) noexcept {
    if (!Policy::is_possible()) return;
    Policy::write(home_, number);
    Policy::store_relaxed(biased_to_, number);
  }

  /// `self`: a number of the calling thread that no other has at the same time, not 0. May fail for
  /// nothing while others lock and unlock.
  [[gnu::always_inline]] Hold try_lock(std::uint32_t self) noexcept {
    if (Policy::load_relaxed(biased_to_) == self && enter(self)) [[likely]]
      return Hold::biased;
    return try_lock_shared(self);
  }
  Hold lock(std::uint32_t self) noexcept {
    Waiter waiter;
    for (;;) {
      const Hold hold = try_lock(self);
      if (hold != Hold::none) return hold;
      waiter.wait();
    }
  }
  [[gnu::always_inline]] void unlock(Hold hold) noexcept {
    // Release: pairs with the acquire of the next holder.
    Policy::store_release(hold == Hold::biased ? inside_ : held_, false);
  }

 private:
  static constexpr std::uint32_t nobody = 0;

  [[gnu::always_inline]] bool enter(std::uint32_t self) noexcept {
    Policy::store_relaxed(inside_, true);
    Policy::home_fence();
    // Relaxed: the home thread was the last inside, or has held the lock as the others do since.
    if (Policy::load_relaxed(biased_to_) == self) [[likely]]
      return true;
    Policy::store_release(inside_, false);
    return false;
  }

  [[gnu::noinline]] Hold try_lock_shared(std::uint32_t self) noexcept {
    // Acquire: what the last holder wrote is seen.
    if (Policy::load_relaxed(held_) || Policy::exchange_acquire(held_, true)) return Hold::none;
    if (Policy::load_relaxed(biased_to_) != nobody) {
      Policy::store_relaxed(biased_to_, nobody);
      Policy::revoker_fence();
    }
    // The home thread may still be inside since before; acquire: as above. Or it is about to find
    // that the bias has been revoked.
    if (Policy::load_acquire(inside_)) {
      Policy::store_release(held_, false);
      return Hold::none;
    }
    if (Policy::read(home_) == nobody && Policy::is_possible()) {
      Policy::write(home_, self);
      Policy::write(turns_of_home_, Policy::turns_to_bias - 1);
    }
    const std::uint32_t turns = Policy::read(home_) == self ? Policy::read(turns_of_home_) + 1 : 0;
    // Seen by others once they hold the lock.
    if (turns == Policy::turns_to_bias) Policy::store_relaxed(biased_to_, self);
    Policy::write(turns_of_home_, turns);
    return Hold::shared;
  }

  typename Policy::Word biased_to_{nobody};  ///< `home_` or nobody; changes under `held_`
  typename Policy::template Plain<std::uint32_t> home_{nobody};      ///< set once, under `held_`
  typename Policy::template Plain<std::uint32_t> turns_of_home_{0};  ///< in a row; under `held_`
  typename Policy::Flag inside_{false};  ///< the home thread holds the lock; it alone writes it
  typename Policy::Flag held_{false};  ///< a thread holds the lock otherwise, or finds out whether
                                       ///< it can
};

using BiasedLock = BasicBiasedLock<StdBias>;

}  // namespace gex
