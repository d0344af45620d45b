#include "net/udp/burst.h"

#include <cstring>
#include <span>

namespace gex::net::udp {

Outgoing Burst::to(Peer& peer, std::uint32_t pieces) {
  if (!peer.is_connected) [[unlikely]] {
    peer.is_connected = true;
    peer.route = socket_.connect(peer.address);
  }
  return {&peer.address, &pieces_[piece_count_], pieces, 0, peer.route};
}

void Burst::make_room() {
  if (count_ == max_outgoing || sent_count_ == max_packets || piece_count_ + 2 > pieces_.size())
    send();
}

bool Burst::can_join(const Peer& peer, std::size_t size) const noexcept {
  if (count_ == 0) return false;
  const std::size_t last = count_ - 1;
  const SocketLimits& limits = socket_.limits();
  const std::size_t segment = outgoing_[last].segment != 0 ? outgoing_[last].segment : bytes_[last];
  return !closed_[last] && outgoing_[last].to == &peer.address && size <= segment &&
         bytes_[last] + size <= limits.max_batch && segments_[last] < limits.max_segments &&
         outgoing_[last].count + 2 <= max_pieces;
}

const std::byte* Burst::copy_of_payload(const Packet& packet) {
  if (copied_ + packet.payload_size > max_copied) send();
  if (copies_ == nullptr) copies_ = std::make_unique<std::byte[]>(max_copied);
  std::byte* const copy = copies_.get() + copied_;
  std::memcpy(copy, packet.payload, packet.payload_size);
  copied_ += packet.payload_size;
  return copy;
}

void Burst::add(Peer& peer, Packet& packet, Header header, Time now) {
  make_room();
  std::byte* const bytes = packet.bytes();
  const bool is_again = packet.payload_size != 0 && packet.transmissions != 0;
  const std::byte* const payload = is_again ? copy_of_payload(packet) : packet.payload;
  const iovec rest[] = {{bytes + sizeof header, packet.size - sizeof header},
                        {const_cast<std::byte*>(payload), packet.payload_size}};
  const std::size_t size = packet.datagram_size();
  header.size = static_cast<std::uint16_t>(size);
  header.tag = 0;
  header.tag = seal_.tag(peer.cover, &header, sizeof header,
                         std::span(rest, packet.payload_size != 0 ? 2 : 1));
  std::memcpy(bytes, &header, sizeof header);
  peer.unacknowledged.transmitted(packet, now);

  const bool joins = can_join(peer, size);
  if (!joins) {
    outgoing_[count_] = to(peer, 0);
    bytes_[count_] = 0;
    closed_[count_] = false;
    segments_[count_] = 0;
    ++count_;
  }
  const std::size_t last = count_ - 1;
  Outgoing& outgoing = outgoing_[last];
  if (joins && outgoing.segment == 0) outgoing.segment = static_cast<std::uint16_t>(bytes_[last]);
  if (joins && size < outgoing.segment) closed_[last] = true;
  pieces_[piece_count_++] = {bytes, packet.size};
  ++outgoing.count;
  if (packet.payload_size != 0) {
    pieces_[piece_count_++] = rest[1];
    ++outgoing.count;
  }
  bytes_[last] += size;
  ++segments_[last];
  sent_[sent_count_++] = {&packet, &peer, static_cast<std::uint32_t>(last)};
}

void Burst::add(Peer& peer, Header header, const void* rest, std::size_t rest_size) {
  make_room();
  std::byte* const bytes = bare_[bare_count_++].bytes;
  const iovec piece{bytes + sizeof header, rest_size};
  if (rest_size != 0) std::memcpy(bytes + sizeof header, rest, rest_size);
  header.size = static_cast<std::uint16_t>(sizeof header + rest_size);
  header.tag = 0;
  header.tag = seal_.tag(peer.cover, &header, sizeof header, std::span(&piece, 1));
  std::memcpy(bytes, &header, sizeof header);
  pieces_[piece_count_] = {bytes, sizeof header + rest_size};
  outgoing_[count_] = to(peer, 1);
  ++piece_count_;
  bytes_[count_] = sizeof header + rest_size;
  closed_[count_] = true;
  segments_[count_] = 1;
  ++count_;
}

void Burst::send() {
  if (count_ == 0) return;
  const std::size_t taken = socket_.send(std::span(outgoing_.data(), count_));
  ++calls_;
  for (std::size_t i = 0; i < count_; ++i) datagrams_ += i < taken ? segments_[i] : 0;
  for (std::size_t i = 0; i < sent_count_; ++i) {
    const Sent& sent = sent_[i];
    // It does not come back before its sending has been tried.
    if (sent.outgoing >= taken) sent.peer->unacknowledged.mark_lost(*sent.packet);
  }
  count_ = piece_count_ = sent_count_ = bare_count_ = copied_ = 0;
}

}  // namespace gex::net::udp
