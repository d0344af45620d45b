#pragma once
// Completion: the counting and the generations at the bottom of every event and implicit operation.
//
// Each part of an operation, once it is done, adds one to a word, its target; the operation is
// complete when as many parts are completed as were initiated. An event's object is used for one
// operation after the other, each a *generation*, whose number is part of the handles that are
// given out: a handle of an earlier generation is recognised.
//
// Thread rules: one thread initiates, and is done with that before another can see the target or
// the handle. Any thread completes. Any thread tests; the one that finds everything complete ends
// the generation, and hands the object on through something that orders memory (a free list of its
// own, the pool's lock).
//
// Templates over an atomics policy, so that an interleaving explorer runs the same text
// (tests/unit/core_event_relacy).

#include <atomic>
#include <cstdint>

namespace gex {

/// Index of an event category: the bit number of its GEX_EC_ constant.
enum Category_index : unsigned { ec_get = 0, ec_put = 1, ec_lc = 2, ec_am = 3, ec_rmw = 4 };
inline constexpr unsigned ec_count = 5;

/// The policy for real use. `Plain` is memory that is never touched by two threads at once.
struct StdCompletion {
  using Word = std::atomic<std::uint32_t>;
  template <class Value>
  using Plain = Value;
  static std::uint32_t load_acquire(const Word& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  static void store_relaxed(Word& word, std::uint32_t value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  static void add_release(Word& word, std::uint32_t value) noexcept {
    word.fetch_add(value, std::memory_order_release);
  }
  template <class Value>
  static Value read(const Value& plain) noexcept {
    return plain;
  }
  template <class Value>
  static void write(Value& plain, Value value) noexcept {
    plain = value;
  }
};

/// The one-word target of a completion; with `followed_tag` in its address, a record that has one
/// (`Observer::follow`).
using CompletionTarget = StdCompletion::Word*;
inline constexpr std::uintptr_t followed_tag = 1;

/// Completes `parts` parts. Any thread. Release: what the operation wrote is seen by the thread
/// that finds the target complete.
template <class Atomics>
void complete_parts(typename Atomics::Word& target, std::uint32_t parts) noexcept {
  Atomics::add_release(target, parts);
}

/// Parts of operations initiated and completed, by category. `initiated` belongs to the thread that
/// initiates.
template <class Atomics>
struct BasicCounters {
  typename Atomics::template Plain<std::uint32_t> initiated[ec_count];
  typename Atomics::Word completed[ec_count];

  bool done(unsigned category) const noexcept {
    // Acquire: pairs with the release of `complete_parts`.
    return Atomics::load_acquire(completed[category]) == Atomics::read(initiated[category]);
  }
  bool all_done() const noexcept {
    return done(ec_get) && done(ec_put) && done(ec_lc) && done(ec_am) && done(ec_rmw);
  }
  void clear() noexcept {
    for (unsigned c = 0; c < ec_count; ++c) {
      Atomics::write(initiated[c], std::uint32_t{0});
      // Relaxed: no other thread has the target yet, and what hands it to one orders memory.
      Atomics::store_relaxed(completed[c], 0);
    }
  }
};

/// The part of an event that several threads touch.
template <class Atomics>
struct BasicEvent {
  BasicCounters<Atomics> counters;
  typename Atomics::template Plain<std::uint16_t> generation;

  /// Begins a generation, with nothing initiated.
  void begin() noexcept { counters.clear(); }
  /// Ends it: its handles are recognised as consumed from now on.
  void end() noexcept {
    Atomics::write(generation, static_cast<std::uint16_t>(Atomics::read(generation) + 1));
  }
  bool is_current(std::uint16_t number) const noexcept {
    return Atomics::read(generation) == number;
  }
};

}  // namespace gex
