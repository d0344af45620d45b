#pragma once
// The buffers in which a network holds messages of the two channels: out of a pool that is large
// enough for what may be under way to all peers, each channel to each peer has a bounded number,
// the replies' their own. So no peer that takes nothing uses up what others need, and a reply is
// accepted even if its receiver never polls.
//
// `Buffer` (net/kit/send_pool.h) has `std::uint32_t peer`; `Kind kind`, of an enumeration that
// begins with the two channels; `std::byte* start`, where the message begins on the wire, with its
// stamp if it has one; and `static constexpr MessageRoom room`. Bytes begin at `bytes()`, and a
// payload is built at `payload()`, behind room for stamp and header.
//
// Thread rules: any where it is `threaded`.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/cache_line.h"
#include "base/zeroed_table.h"
#include "net/kit/fatal.h"
#include "net/kit/pieces.h"
#include "net/kit/send_pool.h"

namespace gex::net {

/// Messages of one channel that one rank holds in buffers for another, and for all others. One of
/// each is promised to all of them at the start, however many are silent; what is there beside
/// that is for those that send more (am/lender.h).
inline constexpr std::uint32_t channel_depth = 32;
constexpr std::uint32_t total_channel_depth(std::size_t ranks) noexcept {
  return 2048 + static_cast<std::uint32_t>(ranks);
}

/// The room of a buffer, in bytes.
struct MessageRoom {
  std::size_t stamp;    ///< in front of a message
  std::size_t header;   ///< of one whose payload is built in place, in front of that
  std::size_t payload;  ///< built in place
  constexpr std::size_t max_message() const noexcept { return header + payload; }
};

template <class Buffer>
class ChannelBuffers {
 public:
  /// Buffers that the messages of both channels to all peers hold at most; twice for replies
  /// (`max_held`).
  static std::size_t max_in_all(std::size_t ranks) noexcept {
    return std::min<std::size_t>(ranks * 3 * channel_depth,
                                 std::size_t{3} * total_channel_depth(ranks));
  }

  /// `name`: the conduit's. `pool`: has these buffers, and more for messages of the network's own.
  /// `threaded`: several threads may call it at once.
  ChannelBuffers(const Host& host, const char* name, SendPool<Buffer>& pool, bool threaded)
      : host_(host), name_(name), pool_(pool), threaded_(threaded), peers_(host.size) {}

  /// The bytes of a message. Ends the job if they are too many, or that is not another rank of it.
  std::size_t size_to(std::uint32_t peer, std::span<const Piece> pieces) const {
    check_peer(peer);
    const std::size_t size = size_of(pieces);
    if (size > Buffer::room.max_message()) [[unlikely]]
      fatal(host_, "%s: a message of %zu bytes to rank %u; the limit is %zu", name_, size, peer,
            Buffer::room.max_message());
    return size;
  }

  /// The buffer in which a payload of the message was built; null: in none.
  Buffer* built(std::span<const Piece> pieces) const noexcept {
    return pieces.empty() ? nullptr : pool_.built_at(pieces.back().data);
  }
  /// A buffer with a message of so many bytes in it, but for its stamp: the one in which its
  /// payload was built, or else one with a copy. Null: as many are held as may be.
  Buffer* fill(Channel channel, std::uint32_t peer, std::span<const Piece> pieces,
               std::size_t size) {
    constexpr MessageRoom room = Buffer::room;
    Buffer* buffer = built(pieces);
    if (buffer == nullptr) {
      buffer = take(channel, peer);
      if (buffer == nullptr) return nullptr;
      buffer->start = buffer->bytes();
    } else {
      const std::size_t payload = pieces.back().size;
      const std::size_t header = size - payload;
      pieces = pieces.first(pieces.size() - 1);
      const bool fits = header <= room.header;
      buffer->start = fits ? buffer->payload() - header - room.stamp : buffer->bytes();
      if (!fits) std::memmove(buffer->start + room.stamp + header, buffer->payload(), payload);
    }
    gather(buffer->start + room.stamp, pieces);
    return buffer;
  }

  /// As a conduit's: a place where a payload is to be built, or null.
  void* build(Channel channel, std::uint32_t peer, std::size_t size) {
    check_peer(peer);
    Buffer* const buffer = size <= Buffer::room.payload ? take(channel, peer) : nullptr;
    return buffer == nullptr ? nullptr : buffer->payload();
  }
  /// As a conduit's: the payload that is being built there is not sent. Ends the job if there is
  /// none.
  void release(void* payload) {
    Buffer* const buffer = pool_.built_at(payload);
    if (buffer == nullptr)
      fatal(host_, "%s: release of %p, which is not a buffer of rank %u", name_, payload,
            host_.rank);
    give_back(*buffer);
  }

  /// Null: as many are held as may be.
  Buffer* take(Channel channel, std::uint32_t peer) {
    std::atomic<std::uint32_t>& held = peers_[peer].held[channel];
    if (add(held, 1) < max_held(channel)) {
      if (Buffer* const buffer = pool_.take()) {
        buffer->kind = static_cast<decltype(buffer->kind)>(channel);
        buffer->peer = peer;
        return buffer;
      }
    }
    add(held, -1);
    return nullptr;
  }
  /// One that `take` gave.
  void give_back(Buffer& buffer) {
    add(peers_[buffer.peer].held[static_cast<Channel>(buffer.kind)], -1);
    pool_.give_back(&buffer);
  }

  /// Ends the job when buffers are lost or counted twice. Only while no other call is in progress,
  /// and when no message of the network's own is under way.
  void check_invariants() const {
    std::size_t held = 0;
    for (std::size_t peer = 0; peer < peers_.size(); ++peer)
      for (const std::atomic<std::uint32_t>& count : peers_[peer].held)
        held += count.load(std::memory_order_relaxed);
    if (held != pool_.taken())
      fatal(host_, "%s: rank %u holds %zu buffers for its peers, and %zu are in use", name_,
            host_.rank, held, pool_.taken());
  }

 private:
  void check_peer(std::uint32_t peer) const {
    if (peer >= host_.size || peer == host_.rank) [[unlikely]]
      fatal(host_, "%s: a message to rank %u, which is not a peer of rank %u among %u", name_, peer,
            host_.rank, host_.size);
  }

  struct HeldBuffers {
    alignas(cache_line) std::array<std::atomic<std::uint32_t>, 2> held{};  ///< buffers, per channel
  };

  /// A reply may have been handled, and the next request it made room for have arrived, before this
  /// process has seen that its buffer is free again: replies have twice the buffers.
  static constexpr std::uint32_t max_held(Channel channel) noexcept {
    return channel == reply_channel ? 2 * channel_depth : channel_depth;
  }

  /// Returns what the count was.
  std::uint32_t add(std::atomic<std::uint32_t>& count, std::int32_t difference) const noexcept {
    const auto addend = static_cast<std::uint32_t>(difference);
    GEX_ASSERT(difference > 0 || count.load(std::memory_order_relaxed) != 0);
    // Relaxed: a count and no more.
    if (threaded_) return count.fetch_add(addend, std::memory_order_relaxed);
    const std::uint32_t before = count.load(std::memory_order_relaxed);
    count.store(before + addend, std::memory_order_relaxed);
    return before;
  }

  const Host& host_;
  const char* const name_;
  SendPool<Buffer>& pool_;
  const bool threaded_;
  ZeroedTable<HeldBuffers> peers_;
};

}  // namespace gex::net
