#pragma once
// A datagram that was built here, and the memory of all of them.
//
// A packet of Slabs holds copies of messages, or of small puts and answers; a packet of a stream
// holds header and record, and its payload stays in the memory that the operation named. Either is
// kept until it has been acknowledged.
//
// A pool's memory is taken once, as addresses; a page of it is used once a packet is.
//
// Thread rules: one thread at a time.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/assert.h"
#include "base/cache_line.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

/// Nanoseconds of a clock that only goes on; the caller's.
using Time = std::uint64_t;

struct Stream;

/// The kind of a packet's records, which decides when it may be sent and of whose memory it is.
enum class Traffic : std::uint8_t {
  requests = request_channel,
  replies = reply_channel,
  one_sided = 2
};
inline constexpr std::size_t traffic_kinds = 3;
/// Where an array that has something for each kind has it.
constexpr std::size_t at(Traffic traffic) noexcept {
  return static_cast<std::size_t>(traffic);
}

struct alignas(cache_line) Packet {
  Packet* next = nullptr;  ///< in the list that it is in
  std::uint32_t size = 0;  ///< of `bytes()`
  std::uint32_t payload_size = 0;
  const std::byte* payload = nullptr;  ///< behind `bytes()`: of a stream
  /// The streams of which this packet has bytes, all or a part: in a packet of a stream that one,
  /// in others a list of the puts that were copied into it, linked by Stream::in_packet.
  Stream* streams = nullptr;
  Time sent_at = 0;
  std::uint64_t transmission = 0;  ///< its number among those to the peer
  union {
    std::uint32_t built_for;     ///< while a payload is built here: the rank that it is for
    std::uint32_t sequence = 0;  ///< from Unacknowledged::add on
  };
  std::uint32_t charge = 0;  ///< what the receiver's kernel takes for it
  Traffic traffic = Traffic::requests;
  std::uint8_t transmissions = 0;   ///< how often; stops at 255
  bool lost = false;                ///< to be sent again
  bool is_repeated_latest = false;  ///< see unacknowledged.h
  bool acknowledge_now = false;     ///< the flag of its header
  bool is_slab = false;             ///< of Slabs; else Sender's, of a stream
  /// Bytes before the header, a multiple of 16: of a message whose payload was built in here first.
  std::uint16_t front = 0;

  /// Where the header begins; the first record's data is aligned to 16 there as in a receive
  /// buffer.
  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1) + 8 + front; }
  const std::byte* bytes() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1) + 8 + front;
  }
  /// Where a payload is built, behind the room for `built_front` bytes of a message's beginning.
  std::byte* built() noexcept {
    return reinterpret_cast<std::byte*>(this + 1) + 8 + sizeof(Header) + sizeof(Record) +
           built_front;
  }
  static constexpr std::size_t built_front = 112;
  /// Bytes of what a packet of Slabs holds behind its header.
  std::size_t record_bytes() const noexcept { return size - sizeof(Header); }
  std::size_t datagram_size() const noexcept { return std::size_t{size} + payload_size; }
};

class PacketPool {
 public:
  /// `count` packets with room for `room` bytes of a datagram each.
  PacketPool(std::size_t count, std::size_t room, bool slabs)
      : count_(count),
        stride_((sizeof(Packet) + 8 + room + cache_line - 1) / cache_line * cache_line),
        slabs_(slabs) {
    void* const memory = mmap(nullptr, count_ * stride_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<std::byte*>(memory);
  }
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool() {
    if (memory_ != nullptr) munmap(memory_, count_ * stride_);
  }

  /// False: there were no addresses for so many, and the pool must not be used.
  bool has_memory() const noexcept { return memory_ != nullptr; }
  std::size_t taken() const noexcept { return taken_; }
  std::size_t left() const noexcept { return count_ - taken_; }

  /// Null when all are in use.
  Packet* take() noexcept {
    Packet* packet = free_;
    if (packet != nullptr)
      free_ = packet->next;
    else if (fresh_ < count_)
      packet = reinterpret_cast<Packet*>(memory_ + stride_ * fresh_++);
    else
      return nullptr;
    ++taken_;
    packet = new (packet) Packet;
    packet->is_slab = slabs_;
    return packet;
  }
  void give_back(Packet* packet) noexcept {
    GEX_ASSERT(taken_ != 0 && holds(packet));
    packet->next = free_;
    free_ = packet;
    --taken_;
  }
  /// Returns true if the address, which may be any, is in this memory. Any thread.
  bool holds(const void* address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory_) <
           count_ * stride_;
  }
  /// The packet in which a payload is built at that address, which may be any; else null.
  Packet* built_at(const void* address) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory_);
    if (offset >= fresh_ * stride_) return nullptr;
    auto* const packet = reinterpret_cast<Packet*>(memory_ + offset / stride_ * stride_);
    return packet->built() == address ? packet : nullptr;
  }

 private:
  const std::size_t count_;
  const std::size_t stride_;
  const bool slabs_;
  std::byte* memory_ = nullptr;
  Packet* free_ = nullptr;
  std::size_t fresh_ = 0;  ///< packets that were in use at some time
  std::size_t taken_ = 0;
};

}  // namespace gex::net::udp
