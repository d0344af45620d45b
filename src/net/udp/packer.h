#pragma once
// Puts messages and other records into packets: each into the open packet of its traffic to a peer,
// into packets of their own where it is larger than a datagram, or into the packet in which its
// payload was built.
//
// Everything is bounded: where there is no room, the caller tries again later.
//
//   if (const std::size_t bytes = packer.add_message(channel, peer, pieces, size); bytes != 0)
//     sender.added(peer, bytes, now);
//
// Thread rules: one thread at a time, but for `may_have_built`.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "net/udp/directory.h"
#include "net/udp/endpoint_settings.h"
#include "net/udp/packet.h"
#include "net/udp/peer.h"
#include "net/udp/slabs.h"
#include "net/udp/stream.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

/// Adds a record to a packet that has room for it and its data; returns where its details belong.
inline std::byte* begin_record(Packet& packet, RecordKind kind, std::size_t size) noexcept {
  std::byte* const to = packet.bytes() + packet.size;
  packet.size += static_cast<std::uint32_t>(record_size(details_of(kind) + size));
  return write_record(to, kind, size);
}

/// Returns true if the bytes of a put, or of the answer to a get, are copied, into a packet with
/// other records; else they are sent from where they are.
inline bool is_copied(const Peer& peer, std::size_t size) noexcept {
  constexpr std::size_t copy_limit = 4096;
  return size <= copy_limit && front_size + padded(size) <= peer.message_datagram;
}

class Packer {
 public:
  Packer(const PeerBounds& bounds, std::size_t ranks, const EndpointSettings& settings);
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  /// False: there was no memory; the object must not be used.
  bool has_memory() const noexcept { return slabs_.has_memory(); }

  /// Adds a message of `size` bytes; returns the bytes of its records, 0: there is no room now,
  /// and nothing has changed.
  std::size_t add_message(Channel channel, Peer& peer, std::span<const Piece> pieces,
                          std::size_t size);
  /// Adds all of a put, as a copy; returns as `add_message`.
  std::size_t add_put(Peer& peer, Stream& put) {
    const PutDetails details{put.remote, put.segment, 0, 0};
    const Added added = add_record(peer, RecordKind::put, details, put.local, put.size);
    if (added.bytes == 0) return 0;
    Packet& packet = *added.to;
    packet.acknowledge_now = true;
    put.cut = put.size;
    put.packets = 1;
    put.in_packet = packet.streams;
    packet.streams = &put;
    return added.bytes;
  }
  /// Adds a get; returns as `add_message`.
  std::size_t add_get(Peer& peer, const GetDetails& get) {
    return add_record(peer, RecordKind::get, get, nullptr, 0).bytes;
  }
  /// Adds a copy of the memory that a peer's get has asked for; returns as `add_message`.
  std::size_t add_answer(Peer& peer, const GetDetails& get, const std::byte* memory) {
    const GetDataDetails details{0, get.get, 0, 0};
    return add_record(peer, RecordKind::get_data, details, memory, get.size).bytes;
  }

  /// A place for a payload of a message, or null: there is no room now, or it gains nothing.
  void* build(Channel channel, Peer& peer, std::size_t size);
  /// The packet whose payload begins at that address, which may be any; else null.
  Packet* built_at(const void* payload) const noexcept { return slabs_.built_at(payload); }
  /// The payload is not sent.
  void cancel_building(Peer& peer, Packet& packet);
  /// Returns true if a payload may have been built at that address, which may be any. Any thread.
  bool may_have_built(const void* payload) const noexcept { return slabs_.holds(payload); }

  /// Takes back a packet whose contents have arrived.
  void give_back(Peer& peer, Packet& packet) { slabs_.give_back(peer, packet); }
  /// Returns true if there are packets for the largest reply.
  bool has_room_for_reply(const Peer& peer) const noexcept {
    return slabs_.left(peer, Traffic::replies) >= max_parts_;
  }
  /// Packets that are in use, but for those in which payloads are built.
  std::size_t in_flight() const noexcept { return slabs_.in_flight(); }
  /// Bytes of a packet.
  std::size_t room() const noexcept { return room_; }

 private:
  std::size_t add_built(Channel channel, Peer& peer, Packet& packet, std::span<const Piece> pieces,
                        std::size_t size);
  std::size_t add_parts(Channel channel, Peer& peer, std::span<const Piece> pieces,
                        std::size_t size);
  /// A record has been added to a packet, of which it takes so many bytes; 0: there is no room now.
  struct Added {
    Packet* to;
    std::size_t bytes;
  };
  /// Adds a record of one-sided traffic.
  template <class Details>
  Added add_record(Peer& peer, RecordKind kind, const Details& details, const std::byte* data,
                   std::size_t size) {
    const std::size_t bytes = record_size(sizeof details + size);
    Packet* const packet = room_for_record(peer, Traffic::one_sided, bytes);
    if (packet == nullptr) return {nullptr, 0};
    std::byte* const to = begin_record(*packet, kind, size);
    std::memcpy(to, &details, sizeof details);
    if (size != 0) std::memcpy(to + sizeof details, data, size);
    return {packet, bytes};
  }
  /// The open packet, with room for a record of `size` bytes in all; null: there is no room now.
  Packet* room_for_record(Peer& peer, Traffic traffic, std::size_t size);
  static void close(Peer& peer, Traffic traffic);

  const std::size_t max_message_;
  const std::uint32_t max_parts_;  ///< packets of the largest message to any peer
  const std::size_t room_;
  Slabs slabs_;
};

}  // namespace gex::net::udp
