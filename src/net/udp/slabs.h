#pragma once
// `Slabs`: the packets in which messages and small transfers to all peers are built, and how many
// of them each peer and each kind of traffic may have.
//
// A packet belongs to a peer from `take` until `give_back`, when the peer has acknowledged it. A
// client may build a payload in one before the message is sent: such a packet is `building` and
// known by the payload's address.
//
// Thread rules: one thread at a time, but for `holds`.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "net/udp/packet.h"
#include "net/udp/peer.h"

namespace gex::net::udp {

class Slabs {
 public:
  /// Packets that a peer may have of each kind of traffic, and all peers together.
  struct Limits {
    std::array<std::uint32_t, traffic_kinds> peer{};
    std::array<std::uint32_t, traffic_kinds> total{};
  };

  /// `count` packets of `room` bytes each.
  Slabs(std::size_t count, std::size_t room, const Limits& limits)
      : pool_(count, room, true), limits_(limits) {}

  bool has_memory() const noexcept { return pool_.has_memory(); }
  /// Packets in use, except those in which payloads are built.
  std::size_t in_flight() const noexcept { return pool_.taken() - building_; }

  /// So many may be taken.
  std::uint32_t left(const Peer& peer, Traffic traffic) const noexcept {
    const auto kind = at(traffic);
    GEX_ASSERT(peer.held[kind] <= limits_.peer[kind] && taken_[kind] <= limits_.total[kind]);
    return std::min(limits_.peer[kind] - peer.held[kind], limits_.total[kind] - taken_[kind]);
  }
  /// With room for a header at its beginning; null: none is left.
  Packet* take(Peer& peer, Traffic traffic) noexcept {
    const auto kind = at(traffic);
    if (left(peer, traffic) == 0) return nullptr;
    Packet* const packet = pool_.take();
    if (packet == nullptr) return nullptr;
    ++peer.held[kind];
    ++taken_[kind];
    packet->traffic = traffic;
    packet->size = sizeof(Header);
    return packet;
  }
  void give_back(Peer& peer, Packet& packet) noexcept {
    const auto kind = at(packet.traffic);
    GEX_ASSERT(peer.held[kind] != 0 && taken_[kind] != 0);
    --peer.held[kind];
    --taken_[kind];
    pool_.give_back(&packet);
  }

  /// One in which a payload for the rank is built.
  Packet* take_for_building(Peer& peer, std::uint32_t rank, Traffic traffic) noexcept {
    Packet* const packet = take(peer, traffic);
    if (packet == nullptr) return nullptr;
    ++building_;
    packet->built_for = rank;
    return packet;
  }
  /// Its payload is complete, or no longer wanted.
  void end_building() noexcept {
    GEX_ASSERT(building_ != 0);
    --building_;
  }
  /// The packet in which a payload is built at that address, which may be any; else null.
  Packet* built_at(const void* payload) const noexcept { return pool_.built_at(payload); }
  /// Returns true if the address, which may be any, is in this memory. Any thread.
  bool holds(const void* address) const noexcept { return pool_.holds(address); }

 private:
  PacketPool pool_;
  const Limits limits_;
  std::array<std::uint32_t, traffic_kinds> taken_{};
  std::uint32_t building_ = 0;
};

}  // namespace gex::net::udp
