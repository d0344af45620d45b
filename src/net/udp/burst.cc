#include "net/udp/burst.h"

#include <algorithm>
#include <cstring>

#include "net/udp/pieces.h"

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

std::byte* Burst::room_for_copy(std::size_t size) {
  if (copied_ + size > max_copied) send();
  if (copies_ == nullptr) copies_ = std::make_unique<std::byte[]>(max_copied);
  std::byte* const copy = copies_.get() + copied_;
  copied_ += size;
  return copy;
}

void Burst::seal(Peer& peer, Header& header, std::span<const iovec> rest) {
  const std::size_t size = size_of(rest);
  const std::uint64_t number = ++peer.sent_number;
  header.number = static_cast<std::uint32_t>(number);
  header.size = static_cast<std::uint16_t>(sizeof header + size);
  header.tag = 0;
  if ((header.flags & bulk) != 0) rest = rest.first(1);
  header.tag = seal_.tag(peer.key_to, static_cast<std::uint32_t>(number >> 32), &header,
                         sizeof header, size, rest);
}

void Burst::add(Peer& peer, Packet& packet, Header header, Time now) {
  const std::size_t size = packet.datagram_size();
  if (size > peer.path_bytes) [[unlikely]] {
    peer.unacknowledged.transmitted(packet, now);
    return add_fragments(peer, packet, header);
  }
  make_room();
  std::byte* bytes = packet.bytes();
  const std::byte* payload = packet.payload;
  if (packet.transmissions != 0) {
    std::byte* const copy = room_for_copy(size);
    std::memcpy(copy, bytes, packet.size);
    if (packet.payload_size != 0) std::memcpy(copy + packet.size, payload, packet.payload_size);
    bytes = copy;
    payload = copy + packet.size;
  }
  const iovec rest[] = {{bytes + sizeof header, packet.size - sizeof header},
                        {const_cast<std::byte*>(payload), packet.payload_size}};
  if (packet.payload_size != 0 && !covers_bulk_) header.flags |= bulk;
  seal(peer, header, std::span(rest, packet.payload_size != 0 ? 2 : 1));
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
  sent_[sent_count_++] = {&peer, packet.transmission, packet.sequence,
                          static_cast<std::uint32_t>(last)};
}

void Burst::add(Peer& peer, Header header, const void* rest, std::size_t rest_size) {
  make_room();
  std::byte* const bytes = bare_[bare_count_++].bytes;
  if (rest_size != 0) std::memcpy(bytes + sizeof header, rest, rest_size);
  add_alone(peer, header, bytes, rest_size);
}

void Burst::add_padded(Peer& peer, Header header, const void* rest, std::size_t rest_size,
                       std::size_t size) {
  make_room();
  std::byte* const bytes = room_for_copy(size);
  std::memset(bytes, 0, size);
  std::memcpy(bytes + sizeof header, rest, rest_size);
  add_alone(peer, header, bytes, size - sizeof header);
}

void Burst::add_fragments(Peer& peer, const Packet& packet, const Header& header) {
  const std::size_t front = packet.size - sizeof header;
  const std::size_t total = packet.datagram_size() - sizeof header;
  const std::size_t room = fragment_room(peer);
  for (std::size_t offset = 0; offset < total; offset += room) {
    const std::size_t size = std::min(room, total - offset);
    make_room();
    std::byte* const bytes = room_for_copy(front_size + size);
    const FragmentDetails details{
        static_cast<std::uint32_t>(total), static_cast<std::uint32_t>(offset), {}};
    std::memcpy(write_record(bytes + sizeof header, RecordKind::fragment, size), &details,
                sizeof details);
    // A fragment takes `own` bytes from the packet, and the rest from the payload outside of it.
    const std::size_t own = offset < front ? std::min(size, front - offset) : 0;
    if (own != 0) std::memcpy(bytes + front_size, packet.bytes() + sizeof header + offset, own);
    if (own != size)
      std::memcpy(bytes + front_size + own, packet.payload + (offset + own - front), size - own);
    Header one = header;
    sent_[sent_count_++] = {&peer, packet.transmission, packet.sequence,
                            static_cast<std::uint32_t>(count_)};
    add_alone(peer, one, bytes, front_size - sizeof header + size);
  }
}

void Burst::add_alone(Peer& peer, Header& header, std::byte* bytes, std::size_t rest_size) {
  const iovec piece{bytes + sizeof header, rest_size};
  seal(peer, header, std::span(&piece, 1));
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
    if (sent.outgoing < taken ||
        !sent.peer->unacknowledged.mark_refused(sent.sequence, sent.transmission))
      continue;
    if (std::ranges::find(refused_, sent.peer) == refused_.end()) refused_.push_back(sent.peer);
  }
  count_ = piece_count_ = sent_count_ = bare_count_ = copied_ = 0;
}

}  // namespace gex::net::udp
