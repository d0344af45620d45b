#pragma once
// A ring of cells from one producer to one consumer and nothing else: what the hardware lets a
// message cost. A cell is one cache line whose first word shows that it has been written.

#include <atomic>
#include <cstdint>

#include "spin.h"

namespace gexperf {

/// In shared memory, which starts as zeros.
struct BareRing {
  static constexpr std::uint32_t cell_count = 256;

  struct alignas(64) Cell {
    std::atomic<std::uint32_t> sequence;  ///< of the last message in this cell, from 1
    std::uint32_t kind;
    std::uint64_t argument;
  };
  Cell cells[cell_count];
  /// Messages received, as of the consumer's last report.
  alignas(256) std::atomic<std::uint32_t> received;
  /// Keeps the next ring's cells out of the lines that a prefetcher fetches along.
  alignas(256) std::byte end[256];
};

/// The producer's end. One thread's.
class BareProducer {
 public:
  explicit BareProducer(BareRing& ring) : ring_(&ring) {}

  bool try_send(std::uint64_t argument) {
    if (sent_ - received_ == BareRing::cell_count) {
      // Acquire: the consumer has read the cells that it reports.
      received_ = ring_->received.load(std::memory_order_acquire);
      if (sent_ - received_ == BareRing::cell_count) return false;
    }
    BareRing::Cell& cell = ring_->cells[sent_ % BareRing::cell_count];
    cell.kind = 1;
    cell.argument = argument;
    // Release: the consumer reads the cell when it has seen the number.
    cell.sequence.store(++sent_, std::memory_order_release);
    return true;
  }
  void send(std::uint64_t argument) {
    spin_until([&] { return try_send(argument); });
  }

 private:
  BareRing* ring_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

/// The consumer's end. One thread's.
class BareConsumer {
 public:
  explicit BareConsumer(BareRing& ring) : ring_(&ring) {}

  /// Adds the argument of the next message to `sum`; false if none has arrived.
  bool try_receive(std::uint64_t& sum) {
    BareRing::Cell& cell = ring_->cells[received_ % BareRing::cell_count];
    // Acquire: pairs with the producer's release.
    if (cell.sequence.load(std::memory_order_acquire) != received_ + 1) return false;
    sum += cell.argument + cell.kind;
    ++received_;
    // A report moves a line; a quarter of the ring at a time keeps the producer from waiting.
    if (received_ % (BareRing::cell_count / 4) == 0)
      ring_->received.store(received_, std::memory_order_release);
    return true;
  }
  void receive(std::uint64_t& sum) {
    spin_until([&] { return try_receive(sum); });
  }

 private:
  BareRing* ring_;
  std::uint32_t received_ = 0;
};

// An end is copied while it is in use, so that its state is in registers.
inline void send_all(BareProducer& end, std::uint64_t messages) {
  BareProducer producer = end;
  for (std::uint64_t i = 0; i < messages; ++i) producer.send(i);
  end = producer;
}
inline void receive_all(BareConsumer& end, std::uint64_t messages) {
  BareConsumer consumer = end;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < messages; ++i) consumer.receive(sum);
  asm volatile("" : : "r"(sum));
  end = consumer;
}
/// Receives what has arrived, but no more than `max`; returns how many messages those were.
inline std::uint64_t receive_some(BareConsumer& end, std::uint64_t max) {
  BareConsumer consumer = end;
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  while (count < max && consumer.try_receive(sum)) ++count;
  asm volatile("" : : "r"(sum));
  if (count != 0) end = consumer;
  return count;
}

}  // namespace gexperf
