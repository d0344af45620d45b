#pragma once
// A queue of up to 64 slots from one process to another, as four words of bits.
//
// One process sends, another receives, both possibly with many threads. Bit i of every word is
// about slot i:
//  - `sent` (shared, written by the sender only): toggled when slot i is handed over;
//  - `done` (shared, written by the receiver only): toggled when slot i is handed back;
//  - `claimed` (the sender's own): a thread of the sender is filling slot i;
//  - `taken` (the receiver's own): a thread of the receiver is reading slot i.
// A slot is the receiver's while its bits in `sent` and `done` differ, else the sender's: all words
// begin as zero, so a queue in a sparse file needs no initialisation and no page until it is used.
//
// Slots are independent of one another: one that is claimed and not yet published, or taken and not
// yet finished, blocks no other. Slots are claimed lowest first, so a queue touches no more memory
// than its greatest depth so far. The order in which slots are taken is the caller's to choose.
//
// What a thread finds in the shared words may be stale, and between looking and claiming another
// thread may have carried the slot through a whole round. So a claim (or take) counts only after a
// second look: while a thread holds the bit in `claimed`, no other of its process moves the bit
// in `sent`, and its previous holder's reads happened before ours, so that the second look cannot
// be older than what that holder saw. The other side's word then can differ from what we see in
// only one direction, towards the slot becoming free (or ready), which is harmless.
//
// A peer that dies, or writes nonsense into its word, can make slots appear or vanish; it cannot
// make two threads of this process hold one slot.
//
// `threaded` false is for a process in which one thread sends and receives: the own words are then
// updated without atomic read-modify-write. A take nested inside another slot's take is fine.
//
// The template's parameter supplies the atomic words, so that an interleaving explorer can run the
// algorithm itself.

#include <atomic>
#include <bit>
#include <cstdint>

namespace gex::net::emu {

enum class Order { relaxed, acquire, release };

/// The policy the library runs with.
struct StdAtomics {
  using Word = std::atomic<std::uint64_t>;

  static constexpr std::memory_order order(Order o) noexcept {
    switch (o) {
      case Order::acquire:
        return std::memory_order_acquire;
      case Order::release:
        return std::memory_order_release;
      case Order::relaxed:
        break;
    }
    return std::memory_order_relaxed;
  }
  static std::uint64_t load(const Word& w, Order o) noexcept { return w.load(order(o)); }
  static void store(Word& w, std::uint64_t v, Order o) noexcept { w.store(v, order(o)); }
  static std::uint64_t fetch_or(Word& w, std::uint64_t v, Order o) noexcept {
    return w.fetch_or(v, order(o));
  }
  static std::uint64_t fetch_and(Word& w, std::uint64_t v, Order o) noexcept {
    return w.fetch_and(v, order(o));
  }
  static std::uint64_t fetch_xor(Word& w, std::uint64_t v, Order o) noexcept {
    return w.fetch_xor(v, order(o));
  }
};

inline constexpr std::uint32_t max_slots = 64;
inline constexpr int no_slot = -1;

/// The bits of a queue of `slots` slots (1 to 64).
constexpr std::uint64_t all_slots(std::uint32_t slots) noexcept {
  return ~std::uint64_t{0} >> (max_slots - slots);
}

namespace detail {
template <class Atomics>
void toggle(typename Atomics::Word& word, std::uint64_t bit, Order order, bool threaded) noexcept {
  if (threaded)
    Atomics::fetch_xor(word, bit, order);
  else
    Atomics::store(word, Atomics::load(word, Order::relaxed) ^ bit, order);
}

/// Sets an own bit; false when another thread holds it.
template <class Atomics>
bool hold(typename Atomics::Word& word, std::uint64_t bit, bool threaded) noexcept {
  if (threaded) return (Atomics::fetch_or(word, bit, Order::acquire) & bit) == 0;
  const std::uint64_t held = Atomics::load(word, Order::relaxed);
  if ((held & bit) != 0) return false;
  Atomics::store(word, held | bit, Order::relaxed);
  return true;
}

template <class Atomics>
void release(typename Atomics::Word& word, std::uint64_t bit, bool threaded) noexcept {
  if (threaded)
    Atomics::fetch_and(word, ~bit, Order::release);
  else
    Atomics::store(word, Atomics::load(word, Order::relaxed) & ~bit, Order::relaxed);
}
}  // namespace detail

/// The sender's view: words that live elsewhere. Cheap to make, any number at a time.
template <class Atomics = StdAtomics>
class SlotSender {
  using Word = typename Atomics::Word;

 public:
  SlotSender(Word& sent, const Word& done, Word& claimed, std::uint64_t all, bool threaded) noexcept
      : sent_(sent), done_(done), claimed_(claimed), all_(all), threaded_(threaded) {}

  /// The lowest free slot, now this thread's to fill, or `no_slot`. The slot's memory may be
  /// written at once: the receiver's reads of it happened before.
  int claim() const noexcept {
    for (;;) {
      const std::uint64_t free =
          ~owned_by_receiver() & ~Atomics::load(claimed_, Order::relaxed) & all_;
      if (free == 0) return no_slot;
      const std::uint64_t bit = free & (~free + 1);
      if (!detail::hold<Atomics>(claimed_, bit, threaded_)) continue;
      if ((owned_by_receiver() & bit) == 0) return std::countr_zero(bit);
      detail::release<Atomics>(claimed_, bit, threaded_);
    }
  }

  /// Hands a claimed slot to the receiver, which sees everything this thread wrote before.
  void publish(int slot) const noexcept {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    detail::toggle<Atomics>(sent_, bit, Order::release, threaded_);
    detail::release<Atomics>(claimed_, bit, threaded_);
  }

  /// Gives a claimed slot back unpublished.
  void abandon(int slot) const noexcept {
    detail::release<Atomics>(claimed_, std::uint64_t{1} << slot, threaded_);
  }

 private:
  /// Acquire on `done`: the copy into a slot must not pass the receiver's last read of it.
  std::uint64_t owned_by_receiver() const noexcept {
    return Atomics::load(sent_, Order::relaxed) ^ Atomics::load(done_, Order::acquire);
  }

  Word& sent_;
  const Word& done_;
  Word& claimed_;
  std::uint64_t all_;
  bool threaded_;
};

/// The receiver's view. `finished` is its own copy of `done`, kept where an idle poll over many
/// queues finds it together with those of the others.
template <class Atomics = StdAtomics>
class SlotReceiver {
  using Word = typename Atomics::Word;

 public:
  SlotReceiver(const Word& sent, Word& done, Word& finished, Word& taken, std::uint64_t all,
               bool threaded) noexcept
      : sent_(sent),
        done_(done),
        finished_(finished),
        taken_(taken),
        all_(all),
        threaded_(threaded) {}

  /// Slots that look as if they could be taken. What the sender wrote into them may be read, but
  /// means something only after `take`.
  std::uint64_t ready() const noexcept {
    return owned_by_receiver() & ~Atomics::load(taken_, Order::relaxed) & all_;
  }

  /// Takes a slot that `ready` showed; false when it is no longer there, because another thread was
  /// faster. On true the slot may be read until `finish`.
  bool take(int slot) const noexcept {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    if (!detail::hold<Atomics>(taken_, bit, threaded_)) return false;
    if ((owned_by_receiver() & bit) != 0) return true;
    detail::release<Atomics>(taken_, bit, threaded_);
    return false;
  }

  /// Gives a taken slot back to the sender, whose next writes come after this thread's reads.
  void finish(int slot) const noexcept {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    detail::toggle<Atomics>(finished_, bit, Order::relaxed, threaded_);
    detail::toggle<Atomics>(done_, bit, Order::release, threaded_);
    detail::release<Atomics>(taken_, bit, threaded_);
  }

 private:
  /// Acquire on `sent`: reads of a slot must not pass the look that found it handed over.
  /// `finished` needs no order: a bit of it is only moved by the thread that holds the slot.
  std::uint64_t owned_by_receiver() const noexcept {
    return Atomics::load(sent_, Order::acquire) ^ Atomics::load(finished_, Order::relaxed);
  }

  const Word& sent_;
  Word& done_;
  Word& finished_;
  Word& taken_;
  std::uint64_t all_;
  bool threaded_;
};

}  // namespace gex::net::emu
