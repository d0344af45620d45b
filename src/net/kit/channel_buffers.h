#pragma once
// The buffers in which a network holds messages of the two channels: out of a pool that is large
// enough for what may be under way to all peers, each channel to each peer has a bounded number,
// the replies' their own. So no peer that takes nothing uses up what others need, and a reply is
// accepted even if its receiver never polls.
//
// `Buffer` (net/kit/send_pool.h) has `std::uint32_t peer` and `Kind kind`, of an enumeration that
// begins with the two channels.
//
// Thread rules: any where it is `threaded`.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/cache_line.h"
#include "net/kit/fatal.h"
#include "net/kit/send_pool.h"

namespace gex::net {

/// Messages of one channel that one rank holds in buffers for another, and for all others.
inline constexpr std::uint32_t channel_depth = 32;
inline constexpr std::uint32_t total_channel_depth = 2048;

template <class Buffer>
class ChannelBuffers {
 public:
  /// Buffers that the messages of both channels to all peers hold at most; twice for replies
  /// (`max_held`).
  static std::size_t max_in_all(std::size_t ranks) noexcept {
    return std::min<std::size_t>(ranks * 3 * channel_depth, std::size_t{3} * total_channel_depth);
  }

  /// `name`: the conduit's. `pool`: has these buffers, and more for messages of the network's own.
  /// `threaded`: several threads may call it at once.
  ChannelBuffers(const Host& host, const char* name, SendPool<Buffer>& pool, bool threaded)
      : host_(host), name_(name), pool_(pool), threaded_(threaded), peers_(host.size) {}

  /// Ends the job if that is not another rank of it.
  void check_peer(std::uint32_t peer) const {
    if (peer >= host_.size || peer == host_.rank) [[unlikely]]
      fatal(host_, "%s: a message to rank %u, which is not a peer of rank %u among %u", name_, peer,
            host_.rank, host_.size);
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

  /// The buffer whose payload was built there; ends the job if there is no such buffer.
  Buffer& built_at(void* payload) const {
    Buffer* const buffer = pool_.built_at(payload);
    if (buffer == nullptr)
      fatal(host_, "%s: release of %p, which is not a buffer of rank %u", name_, payload,
            host_.rank);
    return *buffer;
  }

  /// Ends the job when buffers are lost or counted twice. Only while no other call is in progress,
  /// and when no message of the network's own is under way.
  void check_invariants() const {
    std::size_t held = 0;
    for (const Peer& peer : peers_)
      for (const std::atomic<std::uint32_t>& count : peer.held)
        held += count.load(std::memory_order_relaxed);
    if (held != pool_.taken())
      fatal(host_, "%s: rank %u holds %zu buffers for its peers, and %zu are in use", name_,
            host_.rank, held, pool_.taken());
  }

 private:
  struct Peer {
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
  std::vector<Peer> peers_;
};

}  // namespace gex::net
