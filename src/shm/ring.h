#pragma once
// Rings of cells: how messages pass from producers to one consuming process.
//
// Two kinds share the layout. A *pair ring* has one producing process and needs no atomic
// read-modify-write; a *shared ring* is claimed by all processes of a large neighborhood.
//
// A cell is claimed only when room is known, and only the copy into it stands between claim and
// publish. The consumer copies a message out and gives its cell back before the handler runs, so
// cells are returned in order and no handler, however long, holds one. `released` is published
// every `release_lag` cells: by then the producer still has room, so the lag delays no sender.
//
// Reservation of replies: every request has room reserved in the requester's reply ring until its
// reply has been consumed, or until the target reports that there will be none (`unanswered`,
// counted like `released`). A requester therefore keeps at most `reply_window` requests open, and a
// reply always finds room, whether the requester polls or not.
//
// The algorithms are templates over an atomics policy and over what a cell holds, so that an
// interleaving explorer runs the same text (tests/unit/shm_ring_relacy/ring_relacy_test.cc).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.h"
#include "base/cache_line.h"

namespace gex::shm {

/// The policy for real use. Each operation names the one ordering it has.
struct StdAtomics {
  using Word = std::atomic<std::uint32_t>;
  /// Shows that a cell's message is there: sequence number + 1 in the lower half, and in the upper
  /// 32 bits of the message itself.
  using Ready = std::atomic<std::uint64_t>;
  using Flag = std::atomic<bool>;
  /// Memory that is never touched by two threads at once.
  template <class T>
  using Plain = T;
  template <class T>
  static T load_relaxed(const std::atomic<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  template <class T>
  static T load_acquire(const std::atomic<T>& word) noexcept {
    return word.load(std::memory_order_acquire);
  }
  template <class T>
  static void store_relaxed(std::atomic<T>& word, std::type_identity_t<T> value) noexcept {
    word.store(value, std::memory_order_relaxed);
  }
  template <class T>
  static void store_release(std::atomic<T>& word, std::type_identity_t<T> value) noexcept {
    word.store(value, std::memory_order_release);
  }
  static bool exchange_if_equal(Word& word, std::uint32_t& expected, std::uint32_t value) noexcept {
    return word.compare_exchange_weak(expected, value, std::memory_order_relaxed);
  }
  static void fetch_add_relaxed(Word& word, std::uint32_t value) noexcept {
    word.fetch_add(value, std::memory_order_relaxed);
  }
  static std::uint32_t exchange_relaxed(Word& word, std::uint32_t value) noexcept {
    return word.exchange(value, std::memory_order_relaxed);
  }
  static bool exchange_acquire(Flag& flag, bool value) noexcept {
    return flag.exchange(value, std::memory_order_acquire);
  }
  static bool exchange_release(Flag& flag, bool value) noexcept {
    return flag.exchange(value, std::memory_order_release);
  }
  static void fetch_or_release(Word& word, std::uint32_t bits) noexcept {
    word.fetch_or(bits, std::memory_order_release);
  }
  template <class T>
  static T read(const T& plain) noexcept {
    return plain;
  }
  template <class T>
  static void write(T& plain, std::type_identity_t<T> value) noexcept {
    plain = value;
  }
};

/// Shape of a ring, known to producers and consumer alike.
struct RingShape {
  std::uint32_t cells;         ///< a power of two
  std::uint32_t release_lag;   ///< cells consumed between two publications; a power of two
  std::uint32_t reply_window;  ///< requests a process may have open against one reply ring

  /// Returns true if a count that has just reached `count` is published now.
  constexpr bool is_published(std::uint32_t count) const noexcept {
    return (count & (release_lag - 1)) == 0;
  }
};
/// A window of replies, and what the consumer has not published yet, fit in the ring.
constexpr bool is_sound(RingShape shape) noexcept {
  return (shape.cells & (shape.cells - 1)) == 0 &&
         (shape.release_lag & (shape.release_lag - 1)) == 0 &&
         shape.reply_window + shape.release_lag <= shape.cells;
}
inline constexpr RingShape pair_shape{128, 16, 96};
inline constexpr RingShape shared_shape{1024, 32, 512};
static_assert(is_sound(pair_shape) && is_sound(shared_shape));

/// The words of a ring that both sides touch, apart from the cells.
template <class Atomics>
struct RingControl {
  /// Written by the consumer: cells given back, and requests finished without a reply.
  alignas(cache_line) typename Atomics::Word released;
  typename Atomics::Word unanswered;
  /// Shared rings: the next cell to claim. Written by producers.
  alignas(cache_line) typename Atomics::Word tail;
};

/// The value of a ready word: message `sequence` is there, and these are its first 32 bits.
constexpr std::uint64_t ready_value(std::uint32_t sequence, std::uint32_t what) noexcept {
  return std::uint64_t{what} << 32 | (sequence + 1);
}
/// Returns true if a ready word that holds `value` shows that message `sequence` is there.
constexpr bool has_arrived(std::uint64_t value, std::uint32_t sequence) noexcept {
  return static_cast<std::uint32_t>(value) == sequence + 1;
}
/// Returns true if a ready word that holds `value` shows that message `sequence` has arrived, or
/// one that came to its cell after it.
constexpr bool has_arrived_since(std::uint64_t value, std::uint32_t sequence) noexcept {
  // Signed: what was in the cell before is behind.
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) - (sequence + 1)) >= 0;
}

/// Returns true if there is a message in a ring, for a thread that takes none. `taken`: messages
/// that were taken at some time, read from one word; `ready`: the ready word of the cell of that
/// number. While other threads take messages true may be wrong, but false is not: the cell of a
/// message that has been taken meanwhile still shows it.
template <class Atomics>
bool may_hold_message(const typename Atomics::Ready& ready, std::uint32_t taken) noexcept {
  return has_arrived_since(Atomics::load_relaxed(ready), taken);
}

/// Producer of a pair ring. Used by one thread at a time.
template <class Atomics>
class PairProducer {
 public:
  PairProducer() = default;
  PairProducer(RingControl<Atomics>* control, RingShape shape) noexcept
      : control_(control),
        cells_(static_cast<std::uint16_t>(shape.cells)),
        reply_window_(static_cast<std::uint16_t>(shape.reply_window)) {}

  RingControl<Atomics>* control() const noexcept { return control_; }

  /// True if a cell may be claimed without reading the consumer's words.
  bool has_room() const noexcept { return tail_ != limit_; }
  /// How many cells may be claimed without that.
  std::uint32_t room() const noexcept { return limit_ - tail_; }
  /// Has the consumer's words read again after so many messages, although there may be more room.
  void use_at_most(std::uint32_t messages) noexcept {
    if (room() > messages) limit_ = tail_ + messages;
  }

  /// Reads how much room there is in a ring of replies; false if there is none.
  bool find_reply_room() noexcept {
    // Acquire: the consumer's copy out of a cell precedes our next write to it.
    limit_ = Atomics::load_acquire(control_->released) + cells_;
    GEX_ASSERT(limit_ - tail_ <= cells_);
    return has_room();
  }

  /// Reads how much room there is in a ring of requests; `answered`: replies consumed from that
  /// peer so far.
  bool find_request_room(std::uint32_t answered) noexcept {
    const std::uint32_t room = Atomics::load_acquire(control_->released) + cells_;
    const std::uint32_t finished = Atomics::load_acquire(control_->unanswered) + answered;
    const std::uint32_t window = finished + reply_window_;
    // Both bounds are ahead of the tail by less than half the number range: compare distances.
    GEX_ASSERT(room - tail_ <= cells_ && window - tail_ <= reply_window_);
    limit_ = room - tail_ < window - tail_ ? room : window;
    return has_room();
  }

  /// Sequence number of the next message; its cell is that modulo the ring.
  std::uint32_t next() const noexcept { return tail_; }

  /// Publishes the cell just written; `what`: the first 32 bits of the message.
  void publish(typename Atomics::Ready& ready, std::uint32_t what) noexcept {
    // Release: the message is whole before it is seen.
    Atomics::store_release(ready, ready_value(tail_++, what));
  }

 private:
  RingControl<Atomics>* control_ = nullptr;
  std::uint32_t tail_ = 0;
  std::uint32_t limit_ = 0;
  // From the shape; narrow, so that what a sender needs is in one line.
  std::uint16_t cells_ = 0;
  std::uint16_t reply_window_ = 0;
};

/// Claims the next cell of a shared ring; false when there is none. Any number of threads and
/// processes. `sequence` receives the message's number, for publish_shared.
template <class Atomics>
bool claim_shared(RingControl<Atomics>& control, RingShape shape,
                  std::uint32_t& sequence) noexcept {
  std::uint32_t tail = Atomics::load_relaxed(control.tail);
  for (;;) {
    // Acquire: as in find_reply_room. Read after the tail, so it can only be too small for it.
    if (tail - Atomics::load_acquire(control.released) >= shape.cells) {
      const std::uint32_t again = Atomics::load_relaxed(control.tail);
      if (again == tail) return false;
      tail = again;
      continue;
    }
    if (Atomics::exchange_if_equal(control.tail, tail, tail + 1)) {
      sequence = tail;
      return true;
    }
  }
}

/// Publishes a claimed cell of a shared ring, once written.
template <class Atomics>
void publish_shared(typename Atomics::Ready& ready, std::uint32_t sequence,
                    std::uint32_t what) noexcept {
  // Release: the message is whole before it is seen.
  Atomics::store_release(ready, ready_value(sequence, what));
}

/// Shared rings: counts a request that has ended without a reply, to be reported. `owed`: of its
/// sender; `owes`: whether there is any. Any thread of the process.
template <class Atomics>
void owe(typename Atomics::Word& owed, typename Atomics::Flag& owes) noexcept {
  Atomics::fetch_add_relaxed(owed, 1);
  // Release: the thread that takes it sees the count, which would otherwise stay unreported. An
  // exchange, not a store: it continues the release sequence of a thread that set it before, whose
  // count is seen as well.
  Atomics::exchange_release(owes, true);
}

/// Calls `report(member, count)` for what is owed to each of `members`; `owed(member)` is its word.
template <class Atomics, class Owed, class Report>
void report_owed(typename Atomics::Flag& owes, std::uint32_t members, Owed owed,
                 Report report) noexcept {
  if (!Atomics::exchange_acquire(owes, false)) return;
  for (std::uint32_t member = 0; member < members; ++member) {
    if (Atomics::load_relaxed(owed(member)) == 0) continue;
    report(member, Atomics::exchange_relaxed(owed(member), 0));
  }
}

/// The state of a buffer beside a ring, in which the payload of a message travels: whether it is in
/// use. Taken by its owner, before it is published with the message.
template <class Atomics>
void take_buffer(typename Atomics::Word& busy) noexcept {
  // Relaxed: published with the message.
  Atomics::store_relaxed(busy, 1);
}
/// Given back by who has read the payload, or by the owner if the message was not sent.
template <class Atomics>
void give_buffer_back(typename Atomics::Word& busy) noexcept {
  // Release: the caller's reads and writes of the buffer precede its owner's next write.
  Atomics::store_release(busy, 0);
}
/// Returns true if its owner may write to it.
template <class Atomics>
bool is_buffer_free(const typename Atomics::Word& busy) noexcept {
  // Acquire: see give_buffer_back.
  return Atomics::load_acquire(busy) == 0;
}

/// Consumer of a ring of either kind. Used by one thread at a time.
template <class Atomics>
class Consumer {
 public:
  Consumer() = default;
  Consumer(RingControl<Atomics>* control, RingShape shape) noexcept
      : control_(control), shape_(shape) {}

  /// Number of the next message.
  std::uint32_t next() const noexcept { return head_; }
  RingShape shape() const noexcept { return shape_; }

  /// True if `ready`, the ready word of the next message's cell, shows that it has arrived; then
  /// `what` receives its first 32 bits.
  bool arrived(const typename Atomics::Ready& ready, std::uint32_t& what) const noexcept {
    // Acquire: what the producer wrote before publishing is seen after this.
    const std::uint64_t value = Atomics::load_acquire(ready);
    what = static_cast<std::uint32_t>(value >> 32);
    return has_arrived(value, head_);
  }

  /// Gives the cell of the next message back; call it after copying the message out.
  void advance() noexcept {
    ++head_;
    if (shape_.is_published(head_))
      // Release: our reads of the cell precede the producer's next write to it.
      Atomics::store_release(control_->released, head_);
  }

 private:
  RingControl<Atomics>* control_ = nullptr;
  RingShape shape_{};
  std::uint32_t head_ = 0;
};

}  // namespace gex::shm
