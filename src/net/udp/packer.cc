#include "net/udp/packer.h"

#include <algorithm>

#include "base/round_up.h"
#include "net/kit/pieces.h"

namespace gex::net::udp {

namespace {

/// Smaller payloads are copied, into packets with others.
constexpr std::size_t least_built = 2048;

/// Bytes of the largest datagram of messages to any peer.
std::size_t slab_room(const PeerBounds& bounds, const EndpointSettings& settings) {
  const std::size_t largest =
      std::max<std::size_t>(front_size + 64, bounds.max_datagram & ~std::size_t{15});
  return std::min(largest, sizeof(Header) + record_size(settings.max_message));
}

/// Packets that the largest message takes to any peer.
std::size_t packets_of_message(const PeerBounds& bounds, const EndpointSettings& settings) {
  const std::size_t room = (bounds.least_datagram & ~std::size_t{15}) - front_size;
  return std::max<std::size_t>(
      1, settings.max_message / room + (settings.max_message % room != 0 ? 1 : 0));
}

/// So many messages of a channel are held for all peers together.
std::size_t total_depth_of(const EndpointSettings& settings, std::size_t peers) {
  const std::size_t all = std::size_t{settings.depth} * std::max<std::size_t>(1, peers - 1);
  return settings.total_depth != 0 ? std::min<std::size_t>(all, settings.total_depth) : all;
}

constexpr std::uint32_t one_sided_packets = 512;
/// Packets with small puts, gets and answers that one peer may have.
constexpr std::uint32_t one_sided_packets_of_peer = 64;

Slabs::Limits slab_limits(const EndpointSettings& settings, std::size_t peers,
                          std::uint32_t max_parts) {
  const auto total = static_cast<std::uint32_t>(total_depth_of(settings, peers));
  Slabs::Limits limits;
  constexpr auto requests = at(Traffic::requests);
  constexpr auto replies = at(Traffic::replies);
  constexpr auto one_sided = at(Traffic::one_sided);
  limits.peer[requests] = settings.depth * max_parts;
  limits.total[requests] = total * max_parts;
  // A reply may have been handled, and the next request it made room for have arrived, before its
  // acknowledgement: replies have twice the packets.
  limits.peer[replies] = 2 * settings.depth * max_parts;
  limits.total[replies] = 2 * total * max_parts;
  limits.peer[one_sided] = one_sided_packets_of_peer;
  limits.total[one_sided] = one_sided_packets;
  return limits;
}

}  // namespace

Packer::Packer(const PeerBounds& bounds, std::size_t ranks, const EndpointSettings& settings)
    : max_message_(settings.max_message),
      max_parts_(static_cast<std::uint32_t>(packets_of_message(bounds, settings))),
      room_(slab_room(bounds, settings)),
      slabs_(max_parts_ * (3 * total_depth_of(settings, ranks)) + ranks + one_sided_packets, room_,
             slab_limits(settings, ranks, max_parts_)) {
}

std::size_t Packer::add_message(Channel channel, Peer& peer, std::span<const Piece> pieces,
                                std::size_t size) {
  Packet* const built = pieces.empty() ? nullptr : built_at(pieces.back().data);
  if (sizeof(Header) + record_size(size) > peer.message_datagram) {
    const std::size_t bytes = add_parts(channel, peer, pieces, size);
    if (built != nullptr && bytes != 0) cancel_building(peer, *built);
    return bytes;
  }
  if (built != nullptr) return add_built(channel, peer, *built, pieces, size);
  Packet* const packet = room_for_record(peer, static_cast<Traffic>(channel), record_size(size));
  if (packet == nullptr) return 0;
  gather(begin_record(*packet, static_cast<RecordKind>(channel), size), pieces);
  return record_size(size);
}

std::size_t Packer::add_built(Channel channel, Peer& peer, Packet& packet,
                              std::span<const Piece> pieces, std::size_t size) {
  const std::size_t payload = pieces.back().size;
  const std::size_t beginning = size - payload;
  slabs_.end_building();
  if (beginning <= Packet::built_front && beginning % 16 == 0)
    packet.front = static_cast<std::uint16_t>(Packet::built_front - beginning);
  else
    std::memmove(packet.bytes() + sizeof(Header) + sizeof(Record) + beginning, packet.built(),
                 payload);
  gather(begin_record(packet, static_cast<RecordKind>(channel), size),
         pieces.first(pieces.size() - 1));
  close(peer, packet.traffic);
  peer.ready[at(packet.traffic)].push(&packet);
  return record_size(size);
}

std::size_t Packer::add_parts(Channel channel, Peer& peer, std::span<const Piece> pieces,
                              std::size_t size) {
  const auto traffic = static_cast<Traffic>(channel);
  const std::size_t room = peer.message_datagram - front_size;
  const std::size_t parts = quotient_up(size, room);
  if (slabs_.left(peer, traffic) < parts) return 0;
  close(peer, traffic);
  PartDetails details{peer.next_number[channel]++, static_cast<std::uint32_t>(size), 0, 0, 0};
  const Piece* piece = pieces.data();
  std::size_t taken = 0;  // of that piece
  std::size_t all = 0;    // bytes of records
  while (details.offset < size) {
    Packet* packet = slabs_.take(peer, traffic);
    const std::size_t bytes = std::min(room, size - details.offset);
    std::byte* to = begin_record(
        *packet, channel == request_channel ? RecordKind::request_part : RecordKind::reply_part,
        bytes);
    std::memcpy(to, &details, sizeof details);
    to += sizeof details;
    for (std::size_t left = bytes; left != 0;) {
      const std::size_t some = std::min(left, piece->size - taken);
      if (some != 0) std::memcpy(to, static_cast<const std::byte*>(piece->data) + taken, some);
      to += some;
      left -= some;
      taken += some;
      if (taken != piece->size) continue;
      ++piece;
      taken = 0;
    }
    details.offset += static_cast<std::uint32_t>(bytes);
    all += packet->record_bytes();
    peer.ready[at(traffic)].push(packet);
  }
  return all;
}

Packet* Packer::room_for_record(Peer& peer, Traffic traffic, std::size_t size) {
  Packet*& open = peer.open[at(traffic)];
  const std::size_t max = std::min<std::size_t>(peer.message_datagram, peer.max_share());
  if (open != nullptr && open->size + size > max) close(peer, traffic);
  if (open == nullptr) open = slabs_.take(peer, traffic);
  return open;
}

void Packer::close(Peer& peer, Traffic traffic) {
  Packet*& open = peer.open[at(traffic)];
  if (open == nullptr) return;
  peer.ready[at(traffic)].push(open);
  open = nullptr;
}

void* Packer::build(Channel channel, Peer& peer, std::size_t size) {
  const std::size_t message = Packet::built_front + size;
  if (size < least_built || message > max_message_ ||
      sizeof(Header) + record_size(message) > peer.message_datagram)
    return nullptr;
  Packet* const packet = slabs_.take_for_building(peer, peer.rank, static_cast<Traffic>(channel));
  return packet == nullptr ? nullptr : packet->built();
}

void Packer::cancel_building(Peer& peer, Packet& packet) {
  slabs_.end_building();
  slabs_.give_back(peer, packet);
}

}  // namespace gex::net::udp
