#pragma once
// Where things lie in the memory file that the processes of an emu network share.
//
//   for each rank: the `sent` words of all queues towards it, one row per channel
//   for each target, source and channel: a queue = its `done` word, then its records
//   for each rank: what it lets peers reach (segments.h)
//   until when each rank's port is taken, in each direction (receiving_port.h), and the bisection
//     (ports.h)
//   for each rank: its bell (bells.h)
//
// All parts are sparse: a page exists once it has been used. The words an idle poll reads stand
// together (eight sources to a cache line); the words and records of one queue are on pages of
// their own. A fresh file of zeroes is a network without messages.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/cache_line.h"
#include "base/round_up.h"
#include "net/emu/receiving_port.h"

namespace gex::net::emu {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 256;
inline constexpr std::size_t max_message = payload_room + header_room;

/// Messages begin at multiples of this, relative to the page-aligned file.
inline constexpr std::size_t message_alignment = 16;

/// This precedes a message in its slot, in the message's first cache line. Fields are atomic
/// because another process may write them while we look; they order nothing.
struct Record {
  std::atomic<std::uint16_t> size;
  std::atomic<std::uint16_t> start;     ///< of the message, from the beginning of the record
  std::atomic<std::uint32_t> sequence;  ///< how many the sender had sent into this queue before
  std::atomic<std::uint64_t> due;       ///< when it has arrived, in ticks; 0 without a model
};
static_assert(sizeof(Record) == message_alignment);

/// Where a payload built in place begins; the header is later put in front of it.
inline constexpr std::size_t payload_start = round_up_to_line(sizeof(Record) + header_room);
inline constexpr std::size_t record_stride = payload_start + payload_room;
static_assert(sizeof(Record) + max_message <= record_stride);
static_assert(record_stride % cache_line == 0);
static_assert(record_stride <= UINT16_MAX);

/// A registered segment. Written by its owner; a key names it by place and generation.
struct alignas(32) Registration {
  std::atomic<std::uint64_t> generation;  ///< 0: none
  std::atomic<std::uint64_t> start;       ///< in the memory of the owner's neighborhood
  std::atomic<std::uint64_t> size;
};

/// Segments that a rank can have registered at a time; further ones are refused.
inline constexpr std::uint32_t registrations_each = 512;

class Layout {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::uint32_t channels = 2;

  constexpr Layout(std::uint32_t ranks, std::uint32_t depth) noexcept
      : ranks_(ranks),
        depth_(depth),
        row_(round_up(ranks * sizeof(std::uint64_t), 2 * cache_line)),
        arrivals_(round_up(channels * row_, page)),
        queue_(round_up(cache_line + depth * record_stride, page)) {}

  constexpr std::uint32_t ranks() const noexcept { return ranks_; }
  constexpr std::uint32_t depth() const noexcept { return depth_; }

  /// Returns the place of the `sent` word of (source, target, channel).
  constexpr std::size_t sent(std::uint32_t source, std::uint32_t target,
                             std::uint32_t channel) const noexcept {
    return target * arrivals_ + channel * row_ + source * sizeof(std::uint64_t);
  }
  /// Returns the place of the `done` word, which is where the queue begins.
  constexpr std::size_t done(std::uint32_t source, std::uint32_t target,
                             std::uint32_t channel) const noexcept {
    const std::size_t index = (std::size_t{target} * ranks_ + source) * channels + channel;
    return ranks_ * arrivals_ + index * queue_;
  }
  constexpr std::size_t record(std::uint32_t source, std::uint32_t target, std::uint32_t channel,
                               std::uint32_t slot) const noexcept {
    return done(source, target, channel) + cache_line + slot * record_stride;
  }
  constexpr std::size_t registrations(std::uint32_t rank) const noexcept {
    return done(0, ranks_, 0) + rank * registrations_each * sizeof(Registration);
  }
  /// Returns the place of the word of a port that sends, alone in its cache line.
  constexpr std::size_t port_out(std::uint32_t rank) const noexcept {
    return registrations(ranks_) + rank * (cache_line + sizeof(ReceivingPort));
  }
  constexpr std::size_t port_in(std::uint32_t rank) const noexcept {
    return port_out(rank) + cache_line;
  }
  constexpr std::size_t bisection() const noexcept { return port_out(ranks_); }
  /// Returns the place of a rank's bell, alone in its two cache lines.
  constexpr std::size_t bell(std::uint32_t rank) const noexcept {
    return round_up(bisection() + cache_line, 2 * cache_line) + 2 * rank * cache_line;
  }
  constexpr std::size_t file_size() const noexcept { return round_up(bell(ranks_), page); }

  /// A queue's place, found from an offset inside it.
  struct Place {
    std::uint32_t source, target, channel, slot;
    std::size_t offset;  ///< within the record
  };
  /// `offset` must lie inside the file; nothing for one outside the records.
  constexpr std::optional<Place> locate(std::size_t offset) const noexcept {
    if (offset < ranks_ * arrivals_) return std::nullopt;
    offset -= ranks_ * arrivals_;
    if (offset >= done(0, ranks_, 0) - ranks_ * arrivals_) return std::nullopt;
    const std::size_t index = offset / queue_;
    offset %= queue_;
    if (offset < cache_line || offset - cache_line >= depth_ * record_stride) return std::nullopt;
    offset -= cache_line;
    return Place{.source = static_cast<std::uint32_t>(index / channels % ranks_),
                 .target = static_cast<std::uint32_t>(index / channels / ranks_),
                 .channel = static_cast<std::uint32_t>(index % channels),
                 .slot = static_cast<std::uint32_t>(offset / record_stride),
                 .offset = offset % record_stride};
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t depth_;
  std::size_t row_;       ///< bytes of one channel's `sent` words at one rank
  std::size_t arrivals_;  ///< bytes of one rank's `sent` words
  std::size_t queue_;     ///< bytes of one queue
};

}  // namespace gex::net::emu
