// Endpoint: puts and gets.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "net/kit/fatal.h"
#include "net/udp/endpoint.h"

namespace gex::net::udp {

namespace {

/// What is sent again in place of memory that has gone; see Endpoint::forget.
constexpr std::size_t max_payload = 65536;
alignas(cache_line) constexpr std::array<std::byte, max_payload> nothing{};

}  // namespace

SendResult Endpoint::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done, Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peers_[remote.peer];
  Transfer* const put = one_sided_.begin_put(remote, local, size, done, local_done);
  if (put == nullptr) return would_block;
  SendResult result = sent;
  if (size <= copy_limit && front_size + padded(size) <= peer.datagram) {
    result = put_small(peer, *put, now);
    if (result != sent) one_sided_.cancel_put(*put);
  } else {
    peer.transfers.push(put);
    mark_busy(peer);
    transmit(peer, now);
  }
  hand_over();
  return result;
}

SendResult Endpoint::put_small(Peer& peer, Transfer& transfer, Time now) {
  Packet* packet =
      room_for_record(peer, Traffic::one_sided, record_size(details_size + transfer.size));
  if (packet == nullptr) return would_block;
  const Record record{static_cast<std::uint32_t>(transfer.size), RecordKind::put, {}};
  const PutDetails details{transfer.remote, transfer.number, 0, 0};
  std::byte* const to = packet->bytes() + packet->size;
  std::memcpy(to, &record, sizeof record);
  std::memcpy(to + sizeof record, &details, sizeof details);
  std::memcpy(to + sizeof record + sizeof details, transfer.local, transfer.size);
  packet->size += static_cast<std::uint32_t>(record_size(details_size + transfer.size));
  packet->urgent = true;
  transfer.cut = transfer.size;
  transfer.packets = 1;
  transfer.in_packet = packet->transfer;
  packet->transfer = &transfer;
  one_sided_.complete_locally(transfer);
  added(peer, record_size(details_size + transfer.size), now);
  return sent;
}

SendResult Endpoint::get(const Remote& remote, void* local, std::size_t size, void* done,
                         Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peers_[remote.peer];
  if (!one_sided_.may_get()) return would_block;
  Packet* packet = room_for_record(peer, Traffic::one_sided, record_size(sizeof(GetDetails)));
  if (packet == nullptr) return would_block;
  const std::uint32_t number = one_sided_.begin_get(remote.peer, local, size, done);
  SegmentKey key;
  std::memcpy(&key, remote.key, sizeof key);
  const Record record{0, RecordKind::get, {}};
  const GetDetails details{remote.address, size, key.segment, number, 0};
  std::byte* const to = packet->bytes() + packet->size;
  std::memcpy(to, &record, sizeof record);
  std::memcpy(to + sizeof record, &details, sizeof details);
  packet->size += static_cast<std::uint32_t>(record_size(sizeof details));
  added(peer, record_size(sizeof details), now);
  hand_over();
  return sent;
}

bool Endpoint::answer_small(Peer& peer, const GetDetails& details, const std::byte* memory,
                            Time now) {
  const std::size_t size = record_size(details_size + details.size);
  Packet* packet = room_for_record(peer, Traffic::one_sided, size);
  if (packet == nullptr) return false;
  const Record record{static_cast<std::uint32_t>(details.size), RecordKind::get_data, {}};
  const GetDataDetails data{0, details.get, 0, 0};
  std::byte* const to = packet->bytes() + packet->size;
  std::memcpy(to, &record, sizeof record);
  std::memcpy(to + sizeof record, &data, sizeof data);
  std::memcpy(to + sizeof record + sizeof data, memory, details.size);
  packet->size += static_cast<std::uint32_t>(size);
  added(peer, size, now);
  return true;
}

void Endpoint::begin_answer(Peer& peer, const GetDetails& details, Time now) {
  const std::byte* memory = segments_.at(details.segment, details.address, details.size);
  if (memory != nullptr && details.size <= copy_limit &&
      front_size + padded(details.size) <= peer.datagram &&
      answer_small(peer, details, memory, now))
    return;
  Transfer* const answer =
      memory == nullptr ? nullptr : one_sided_.begin_answer(rank_of(peer), details, memory);
  if (answer == nullptr)
    fatal(host_, "udp: a get of rank %u was accepted and cannot be answered", rank_of(peer));
  peer.transfers.push(answer);
  mark_busy(peer);
}

SendResult Endpoint::flush(std::uint32_t rank, void* done) {
  const OptionalGuard guard(lock_, threaded_);
  return one_sided_.flush(rank, done) ? sent : would_block;
}

void Endpoint::forget(const Segments::Range& memory) {
  const OptionalGuard guard(lock_, threaded_);
  const auto is_there = [&](const std::byte* bytes) {
    return reinterpret_cast<std::uint64_t>(bytes) - memory.begin < memory.size;
  };
  for (Peer& peer : peers_)
    peer.unacknowledged.for_all([&](Packet& packet) {
      const bool answers = packet.transfer != nullptr && packet.transfer->kind == Transfer::answer;
      if (answers && packet.payload_size != 0 && is_there(packet.payload))
        packet.payload = nothing.data();
    });
}

}  // namespace gex::net::udp
