#pragma once
// A lock for a few instructions that one thread takes again and again, and others seldom or never.
//
// The lock is biased to the thread that takes it some hundred times in a row, its home: that locks
// and unlocks with plain stores. A locked instruction would wait for all stores before it, which
// are on their way to lines that other cores hold: that is most of the cost of a message. Another
// thread that wants the lock revokes the bias: then it is a spin lock, until again a thread has
// taken it often in a row. A lock has a few homes at most, one after the other.
//
// Home and revoker decide by Dekker's rule: the home thread stores that it is inside and then looks
// whether the lock is still biased to it; the revoker ends the bias and then looks whether the home
// thread is inside. Each needs its store to be seen before its look. The revoker pays for both, by
// a fence in all threads of the process (base/os_process_fence.h); where there is none no lock is
// biased. Each home has a word of its own for being inside, because an earlier one may still write
// to its word when it finds out that it has lost the bias.
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
  /// A thread has the bias after so many turns that it held the lock in a row.
  static constexpr std::uint32_t turns_to_bias = 256;

  /// ThreadSanitizer does not support fences.
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
  class Hold {
   public:
    constexpr Hold() = default;
    explicit operator bool() const noexcept { return how_ != none; }
    bool is_biased() const noexcept { return how_ > shared; }
    /// Returns the place of a biased lock's home thread, which no other thread ever has.
    unsigned place() const noexcept { return how_ - biased; }

   private:
    friend class BasicBiasedLock;
    static constexpr std::uint8_t none = 0;
    static constexpr std::uint8_t shared = 1;
    static constexpr std::uint8_t biased = 2;  ///< and above: by the home of that place
    constexpr explicit Hold(std::uint32_t how) noexcept : how_(static_cast<std::uint8_t>(how)) {}

    std::uint8_t how_ = none;
  };

  /// How many threads can be the home, one after the other.
  static constexpr unsigned places = 4;

  /// `self`: a number of the calling thread that no other has at the same time, not 0, below 2^24.
  /// May fail for nothing while others lock and unlock.
  [[gnu::always_inline]] Hold try_lock(std::uint32_t self) noexcept {
    const std::uint32_t home = Policy::load_relaxed(biased_to_);
    if ((home & number_mask) == self && enter(home)) [[likely]]
      return Hold(Hold::biased + (home >> place_shift));
    return try_lock_shared(self);
  }
  Hold lock(std::uint32_t self) noexcept {
    Waiter waiter;
    for (;;) {
      const Hold hold = try_lock(self);
      if (hold) return hold;
      waiter.wait();
    }
  }
  [[gnu::always_inline]] void unlock(Hold hold) noexcept {
    // Release: pairs with the acquire of the next holder.
    Policy::store_release(hold.is_biased() ? inside_[hold.place()] : held_, false);
  }

 private:
  static constexpr std::uint32_t no_thread = 0;
  static constexpr unsigned place_shift = 24;
  static constexpr std::uint32_t number_mask = (1U << place_shift) - 1;

  [[gnu::always_inline]] bool enter(std::uint32_t home) noexcept {
    typename Policy::Flag& inside = inside_[home >> place_shift];
    Policy::store_relaxed(inside, true);
    Policy::home_fence();
    // Relaxed: the home thread was the last inside, or has held the lock as the others do since.
    if (Policy::load_relaxed(biased_to_) == home) [[likely]]
      return true;
    Policy::store_release(inside, false);
    return false;
  }

  [[gnu::noinline]] Hold try_lock_shared(std::uint32_t self) noexcept {
    // Acquire: what the last holder wrote is seen.
    if (Policy::load_relaxed(held_) || Policy::exchange_acquire(held_, true)) return Hold();
    const std::uint32_t home = Policy::read(home_);
    if (Policy::load_relaxed(biased_to_) != no_thread) {
      Policy::store_relaxed(biased_to_, no_thread);
      Policy::revoker_fence();
    }
    // The home thread may still be inside since before; acquire: as above. Or it is about to find
    // that the bias has been revoked. An earlier home can only be the latter.
    if (Policy::load_acquire(inside_[home >> place_shift])) {
      Policy::store_release(held_, false);
      return Hold();
    }
    count_turn(self);
    return Hold(Hold::shared);
  }

  void count_turn(std::uint32_t self) noexcept {
    const bool again = Policy::read(last_) == self;
    const auto turns = static_cast<std::uint16_t>(again ? Policy::read(turns_) + 1 : 1);
    const bool enough = turns >= Policy::turns_to_bias;
    Policy::write(last_, self);
    Policy::write(turns_, enough ? std::uint16_t{0} : turns);
    if (!enough || !Policy::is_possible()) return;
    std::uint32_t home = Policy::read(home_);
    if ((home & number_mask) != self) {
      const std::uint32_t place = home == no_thread ? 0 : (home >> place_shift) + 1;
      if (place == places) return;
      home = place << place_shift | self;
      Policy::write(home_, home);
    }
    // Seen by others once they hold the lock.
    Policy::store_relaxed(biased_to_, home);
  }

  typename Policy::Word biased_to_{no_thread};  ///< `home_` or no_thread; changes under `held_`
  /// Under `held_`: the last home, its place among all above its number; the last thread that has
  /// held the lock shared, and how often in a row.
  typename Policy::template Plain<std::uint32_t> home_{no_thread};
  typename Policy::template Plain<std::uint32_t> last_{no_thread};
  typename Policy::template Plain<std::uint16_t> turns_{0};
  /// By place: the home thread holds the lock, or is about to find that it has lost the bias. It
  /// alone writes it.
  typename Policy::Flag inside_[places]{{false}, {false}, {false}, {false}};
  typename Policy::Flag held_{false};  ///< a thread holds the lock otherwise, or tries
};

using BiasedLock = BasicBiasedLock<StdBias>;

}  // namespace gex
