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

std::uint32_t number_of(const Remote& remote) noexcept {
  SegmentKey key;
  std::memcpy(&key, remote.key, sizeof key);
  return key.segment;
}

}  // namespace

SendResult Endpoint::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done, Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peers_[remote.peer];
  Transfer* transfer = puts_.take();
  if (transfer == nullptr) return would_block;
  transfer->peer = remote.peer;
  transfer->number = number_of(remote);
  transfer->remote = remote.address;
  transfer->local = static_cast<const std::byte*>(local);
  transfer->size = size;
  transfer->done = done;
  transfer->local_done = local_done;
  if (done == nullptr && local_done == nullptr) {
    transfer->group = group_of(peer);
    if (transfer->group == nullptr) {
      puts_.give_back(transfer);
      return would_block;
    }
    ++transfer->group->puts;
  }
  SendResult result = sent;
  if (size <= copy_limit && front_size + padded(size) <= peer.datagram) {
    result = put_small(peer, *transfer, now);
    if (result != sent) {
      if (transfer->group != nullptr) --transfer->group->puts;
      puts_.give_back(transfer);
    }
  } else {
    peer.transfers.push(transfer);
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
  if (transfer.local_done != nullptr) host_.complete(std::exchange(transfer.local_done, nullptr));
  added(peer, record_size(details_size + transfer.size), now);
  return sent;
}

SendResult Endpoint::get(const Remote& remote, void* local, std::size_t size, void* done,
                         Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peers_[remote.peer];
  if (free_gets_.empty()) return would_block;
  Packet* packet = room_for_record(peer, Traffic::one_sided, record_size(sizeof(GetDetails)));
  if (packet == nullptr) return would_block;
  const std::uint32_t number = free_gets_.back();
  free_gets_.pop_back();
  gets_[number] = {static_cast<std::byte*>(local), size, 0, done, remote.peer};
  const Record record{0, RecordKind::get, {}};
  const GetDetails details{remote.address, size, number_of(remote), number, 0};
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
  Transfer* transfer = answers_.take();
  if (transfer == nullptr || memory == nullptr)
    fatal(host_, "udp: a get of rank %u was accepted and cannot be answered", rank_of(peer));
  transfer->kind = Transfer::answer;
  transfer->peer = rank_of(peer);
  transfer->number = details.get;
  transfer->local = memory;
  transfer->size = details.size;
  peer.transfers.push(transfer);
  mark_busy(peer);
}

bool Endpoint::is_valid(const Peer& peer, const GetDataDetails& details,
                        std::size_t size) const noexcept {
  if (details.get >= gets_.size() || size == 0) return false;
  const Get& get = gets_[details.get];
  return get.done != nullptr && get.peer == rank_of(peer) && details.offset <= get.size &&
         size <= get.size - details.offset;
}

void Endpoint::take_get_data(const Peer& peer, const GetDataDetails& details, const std::byte* data,
                             std::size_t size) {
  // Another record of the same datagram may have completed it.
  if (!is_valid(peer, details, size)) return;
  Get& get = gets_[details.get];
  std::memcpy(get.local + details.offset, data, size);
  get.received += size;
  if (get.received < get.size) return;
  host_.complete(std::exchange(get.done, nullptr));
  free_gets_.push_back(details.get);
}

void Endpoint::packet_arrived(Transfer& transfer) {
  --transfer.packets;
  if (transfer.packets == 0 && transfer.cut == transfer.size) finish(transfer);
}

void Endpoint::finish(Transfer& transfer) {
  if (transfer.kind == Transfer::answer) {
    answers_.give_back(&transfer);
    return;
  }
  if (transfer.local_done != nullptr) host_.complete(transfer.local_done);
  if (transfer.done != nullptr) host_.complete(transfer.done);
  if (transfer.group != nullptr) {
    --transfer.group->puts;
    settle_groups(peers_[transfer.peer]);
  }
  puts_.give_back(&transfer);
}

SendResult Endpoint::flush(std::uint32_t rank, void* done) {
  const OptionalGuard guard(lock_, threaded_);
  Peer& peer = peers_[rank];
  if (peer.last_group == nullptr) {
    host_.complete(done);
    return sent;
  }
  FlushGroup* group = peer.last_group;
  if (group->closed) {
    // No put since the last one: it waits behind that.
    group = groups_.take();
    if (group == nullptr) return would_block;
    peer.last_group->next = group;
    peer.last_group = group;
  }
  group->closed = true;
  group->done = done;
  settle_groups(peer);
  return sent;
}

FlushGroup* Endpoint::group_of(Peer& peer) {
  FlushGroup* last = peer.last_group;
  if (last != nullptr && !last->closed) return last;
  FlushGroup* group = groups_.take();
  if (group == nullptr) return nullptr;
  (last == nullptr ? peer.first_group : last->next) = group;
  peer.last_group = group;
  return group;
}

void Endpoint::settle_groups(Peer& peer) {
  while (peer.first_group != nullptr && peer.first_group->puts == 0 && peer.first_group->closed) {
    FlushGroup* group = peer.first_group;
    peer.first_group = group->next;
    if (peer.first_group == nullptr) peer.last_group = nullptr;
    void* const done = group->done;
    groups_.give_back(group);
    host_.complete(done);
  }
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
