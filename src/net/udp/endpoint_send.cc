// Endpoint: what goes to peers, and when.

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/kit/fatal.h"
#include "net/udp/endpoint.h"

namespace gex::net::udp {

namespace {

/// So many after a poll leave at once, whatever is under way.
constexpr std::uint32_t prompt_sends = 2;
/// So many leave together: more would save little of a call of the system's.
constexpr std::uint32_t max_gathered = 64;
/// Time between two of a row; after a longer one nothing is gathered. The longer one is for where
/// the first of the two has taken a call of the system's.
constexpr Time row_gap = 3'000;
constexpr Time row_gap_with_call = 25'000;
/// What is gathered for one peer while others are sent to leaves after so long.
constexpr Time gathering = 50'000;
/// Smaller payloads are copied, into packets with others.
constexpr std::size_t least_built = 2048;

/// Streams are not cut into less.
constexpr std::size_t least_cut = 2816;

constexpr std::size_t at(Traffic traffic) noexcept {
  return static_cast<std::size_t>(traffic);
}

std::size_t total_of(std::span<const Piece> pieces) noexcept {
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += piece.size;
  return total;
}

/// Adds a record's beginning to a packet that has room for it; returns where its details belong.
std::byte* begin_record(Packet& packet, RecordKind kind, std::size_t size) noexcept {
  std::byte* to = packet.bytes() + packet.size;
  const Record record{static_cast<std::uint32_t>(size), kind, {}};
  std::memcpy(to, &record, sizeof record);
  packet.size += static_cast<std::uint32_t>(record_size(details_of(kind) + size));
  return to + sizeof record;
}

std::byte* copy_to(std::byte* to, const void* from, std::size_t size) noexcept {
  if (size != 0) std::memcpy(to, from, size);
  return to + size;
}

}  // namespace

SendResult Endpoint::send(Channel channel, std::uint32_t rank, std::span<const Piece> pieces,
                          Time now) {
  const std::size_t size = total_of(pieces);
  if (size > settings_.max_message || rank >= peers_.size() || rank == host_.rank) [[unlikely]]
    fatal(host_, "udp: a message of %zu bytes to rank %u; the limit is %zu", size, rank,
          settings_.max_message);
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peers_[rank];
  Packet* const built = pieces.empty() ? nullptr : slabs_.built_at(pieces.back().data);
  const bool is_whole = sizeof(Header) + record_size(size) <= peer.datagram;
  SendResult result = sent;
  if (peer.is_gone) {
    if (built != nullptr) end_building(*built);
  } else if (built != nullptr && is_whole) {
    send_built(channel, peer, *built, pieces, size, now);
  } else {
    result = is_whole ? send_whole(channel, peer, pieces, size, now)
                      : send_parts(channel, peer, pieces, size, now);
    if (built != nullptr && result == sent) end_building(*built);
  }
  hand_over();
  return result;
}

void Endpoint::hand_over() {
  burst_.send();
  burst_.for_refused([&](Peer& peer) { mark_busy(peer); });
}

void* Endpoint::buffer(Channel channel, std::uint32_t rank, std::size_t size) {
  if (size < least_built || rank >= peers_.size() || rank == host_.rank) return nullptr;
  const OptionalGuard guard(lock_, threaded_);
  Peer& peer = peers_[rank];
  const std::size_t message = Packet::built_front + size;
  if (message > settings_.max_message || sizeof(Header) + record_size(message) > peer.datagram)
    return nullptr;
  Packet* packet = slabs_.take_for_building(peer, rank, static_cast<Traffic>(channel));
  return packet == nullptr ? nullptr : packet->built();
}

void Endpoint::release(void* payload) {
  const OptionalGuard guard(lock_, threaded_);
  Packet* const packet = slabs_.built_at(payload);
  if (packet == nullptr)
    fatal(host_, "udp: release of %p, which is not a buffer of rank %u", payload, host_.rank);
  end_building(*packet);
}

void Endpoint::end_building(Packet& packet) {
  slabs_.end_building();
  slabs_.give_back(peers_[packet.sequence], packet);
}

SendResult Endpoint::send_whole(Channel channel, Peer& peer, std::span<const Piece> pieces,
                                std::size_t size, Time now) {
  Packet* packet = room_for_record(peer, static_cast<Traffic>(channel), record_size(size));
  if (packet == nullptr) return would_block;
  std::byte* to = begin_record(*packet, static_cast<RecordKind>(channel), size);
  for (const Piece& piece : pieces) to = copy_to(to, piece.data, piece.size);
  added(peer, record_size(size), now);
  return sent;
}

void Endpoint::send_built(Channel channel, Peer& peer, Packet& packet,
                          std::span<const Piece> pieces, std::size_t size, Time now) {
  const std::size_t payload = pieces.back().size;
  const std::size_t beginning = size - payload;
  slabs_.end_building();
  if (beginning <= Packet::built_front && beginning % 16 == 0)
    packet.front = static_cast<std::uint16_t>(Packet::built_front - beginning);
  else
    std::memmove(packet.bytes() + sizeof(Header) + sizeof(Record) + beginning, packet.built(),
                 payload);
  std::byte* to = begin_record(packet, static_cast<RecordKind>(channel), size);
  for (const Piece& piece : pieces.first(pieces.size() - 1))
    to = copy_to(to, piece.data, piece.size);
  close(peer, packet.traffic);
  peer.ready[at(packet.traffic)].push(&packet);
  added(peer, record_size(size), now);
}

SendResult Endpoint::send_parts(Channel channel, Peer& peer, std::span<const Piece> pieces,
                                std::size_t size, Time now) {
  const auto traffic = static_cast<Traffic>(channel);
  const std::size_t room = peer.datagram - front_size;
  const std::size_t parts = (size + room - 1) / room;
  if (slabs_.left(peer, traffic) < parts) return would_block;
  close(peer, traffic);
  PartDetails details{peer.next_number[channel]++, static_cast<std::uint32_t>(size), 0, 0, 0};
  const Piece* piece = pieces.data();
  std::size_t taken = 0;  // of that piece
  while (details.offset < size) {
    Packet* packet = slabs_.take(peer, traffic);
    const std::size_t bytes = std::min(room, size - details.offset);
    std::byte* to = begin_record(
        *packet, channel == request_channel ? RecordKind::request_part : RecordKind::reply_part,
        bytes);
    to = copy_to(to, &details, sizeof details);
    for (std::size_t left = bytes; left != 0;) {
      const std::size_t some = std::min(left, piece->size - taken);
      to = copy_to(to, static_cast<const std::byte*>(piece->data) + taken, some);
      left -= some;
      taken += some;
      if (taken != piece->size) continue;
      ++piece;
      taken = 0;
    }
    details.offset += static_cast<std::uint32_t>(bytes);
    peer.ready[at(traffic)].push(packet);
  }
  added(peer, parts * front_size + size, now);
  return sent;
}

Packet* Endpoint::room_for_record(Peer& peer, Traffic traffic, std::size_t size) {
  Packet*& open = peer.open[at(traffic)];
  // Small windows are not filled by a single datagram.
  const std::size_t most = std::min<std::size_t>(peer.datagram, peer.window / 2);
  if (open != nullptr && open->size + size > most) close(peer, traffic);
  if (open == nullptr) open = slabs_.take(peer, traffic);
  return open;
}

void Endpoint::close(Peer& peer, Traffic traffic) {
  Packet*& open = peer.open[at(traffic)];
  if (open == nullptr) return;
  peer.ready[at(traffic)].push(open);
  open = nullptr;
}

void Endpoint::added(Peer& peer, std::size_t bytes, Time now) {
  mark_busy(peer);
  peer.queued += bytes;
  // What is gathered leaves with a later call at the latest, which may not come before this process
  // has computed for long. So only some in a row are gathered; of larger ones the more, the more is
  // on its way.
  ++sends_since_poll_;
  ++peer.gathered;
  const Time gap = burst_.calls() != calls_at_last_added_ ? row_gap_with_call : row_gap;
  const bool in_a_row = now - std::exchange(last_added_, now) < gap;
  calls_at_last_added_ = burst_.calls();
  const std::size_t enough =
      std::clamp(peer.unacknowledged.in_flight(), settings_.bundle, settings_.batch);
  if (sends_since_poll_ <= prompt_sends || !in_a_row || peer.unacknowledged.empty() ||
      peer.queued >= enough || peer.gathered >= max_gathered)
    transmit(peer, now);
  if (in_a_row && now - last_gathered_out_ < gathering) return;
  // Of other peers too.
  last_gathered_out_ = now;
  for (Peer* other : busy_)
    if (other->queued != 0) transmit(*other, now);
}

void Endpoint::mark_busy(Peer& peer) {
  if (peer.is_busy) return;
  peer.is_busy = true;
  busy_.push_back(&peer);
}

bool Endpoint::may_send(Peer& peer, std::size_t charge) noexcept {
  const std::size_t in_flight = peer.unacknowledged.in_flight();
  if (in_flight == 0) return true;
  if (in_flight + charge > peer.congestion.window()) {
    peer.congestion.filled();
    return false;
  }
  return in_flight + charge <= peer.window && peer.pacing.may_send(in_flight + charge);
}

bool Endpoint::may_request(Peer& peer, Time now) noexcept {
  if (!peer.refuses_requests) return true;
  if (now < peer.probe_at) return false;
  // One of them asks whether there is room again.
  peer.probe_at = now + 4 * peer.round_trip.timeout();
  return true;
}

void Endpoint::transmit(Peer& peer, Time now) {
  peer.gathered = 0;
  if (peer.is_gone) return;
  if (now - peer.granted_at > ReceiveRoom::lifetime)
    peer.window = std::min(peer.window, peer.first_window);
  peer.pacing.look(std::min(peer.window, peer.congestion.window()), peer.round_trip.mean(),
                   now > poll_before_ ? now - poll_before_ : 0, now);
  if (!peer.pacing.may_send(peer.unacknowledged.in_flight())) return;
  for (Packet* packet = peer.unacknowledged.lost() != 0
                            ? peer.unacknowledged.lost_from(peer.unacknowledged.first_sequence())
                            : nullptr;
       packet != nullptr; packet = peer.unacknowledged.lost_from(packet->sequence + 1)) {
    if (packet->traffic == Traffic::requests && !may_request(peer, now)) continue;
    packet->charge = charge_of(peer, packet->datagram_size());
    if (!may_send(peer, packet->charge)) return;
    put_on_wire(peer, *packet, now);
  }
  while (peer.unacknowledged.has_room()) {
    Packet* packet = next_packet(peer, now);
    if (packet == nullptr) break;
    peer.unacknowledged.add(*packet);
    put_on_wire(peer, *packet, now);
  }
  if (!peer.unacknowledged.has_room()) peer.congestion.filled();
}

Packet* Endpoint::next_packet(Peer& peer, Time now) {
  // Replies first: they give room and credits back.
  for (const Traffic traffic : {Traffic::replies, Traffic::one_sided, Traffic::requests}) {
    if (traffic == Traffic::requests && peer.refuses_requests && !peer.unacknowledged.empty())
      continue;
    PacketQueue& ready = peer.ready[at(traffic)];
    Packet* packet = ready.empty() ? peer.open[at(traffic)] : ready.first();
    if (packet == nullptr || (traffic == Traffic::requests && !may_request(peer, now))) continue;
    packet->charge = charge_of(peer, packet->size);
    if (!may_send(peer, packet->charge)) return nullptr;
    peer.queued -= std::min<std::size_t>(peer.queued, packet->size);
    if (ready.empty())
      peer.open[at(traffic)] = nullptr;
    else
      ready.pop();
    return packet;
  }
  return peer.transfers.empty() ? nullptr : cut_next(peer);
}

Packet* Endpoint::cut_next(Peer& peer) {
  Transfer& transfer = *peer.transfers.first();
  std::size_t bytes = std::min<std::size_t>(peer.stream_payload, transfer.size - transfer.cut);
  std::size_t charge = socket_.charge(front_size + bytes);
  // Small windows are not filled by a single datagram.
  while (2 * charge > peer.window && bytes > least_cut) {
    bytes = bytes / 2 & ~std::size_t{63};
    charge = socket_.charge(front_size + bytes);
  }
  if (!may_send(peer, charge)) return nullptr;
  Packet* packet = stream_packets_.take();
  if (packet == nullptr) return nullptr;
  packet->traffic = Traffic::one_sided;
  packet->size = sizeof(Header);
  packet->charge = static_cast<std::uint32_t>(charge);
  const std::size_t left = transfer.size - transfer.cut - bytes;
  const auto follows = static_cast<std::uint32_t>(std::min<std::size_t>(left, UINT32_MAX));
  if (transfer.kind == Transfer::put) {
    const PutDetails details{transfer.remote + transfer.cut, transfer.number, follows, 0};
    copy_to(begin_record(*packet, RecordKind::put, bytes), &details, sizeof details);
  } else {
    const GetDataDetails details{transfer.cut, transfer.number, follows, 0};
    copy_to(begin_record(*packet, RecordKind::get_data, bytes), &details, sizeof details);
  }
  // The data follow from where they are.
  packet->size = front_size;
  packet->payload = transfer.local + transfer.cut;
  packet->payload_size = static_cast<std::uint32_t>(bytes);
  packet->transfer = &transfer;
  packet->urgent = left == 0 && transfer.kind == Transfer::put;
  transfer.cut += bytes;
  ++transfer.packets;
  if (left == 0) peer.transfers.pop();
  return packet;
}

Header Endpoint::header_for(Peer& peer, std::uint8_t flags) noexcept {
  const bool refuses = !buffers_.may_hold(request_channel);
  requests_refused_ |= refuses;
  peer.was_stopped = refuses;
  peer.unanswered = 0;
  peer.unanswered_charge = 0;
  peer.answer_now = false;
  const bool waited = std::exchange(peer.kept_waiting, false);
  Header header{};
  header.source = host_.rank & (max_ranks - 1);
  header.next_expected = peer.received.next_expected();
  header.received = peer.received.received_behind(0);
  header.window = static_cast<std::uint16_t>(
      std::min<std::size_t>(room_.grant(peer.share) / window_unit, UINT16_MAX));
  header.flags =
      static_cast<std::uint8_t>(flags | (refuses ? no_requests : 0) | (waited ? kept_waiting : 0));
  return header;
}

void Endpoint::put_on_wire(Peer& peer, Packet& packet, Time now) {
  if (packet.transmissions != 0) {
    ++counts_.sent_again;
    if (packet.transmissions >= suspect_transmissions) suspect(peer, packet.datagram_size(), now);
  }
  const bool more = !peer.transfers.empty() || peer.open[at(packet.traffic)] != nullptr;
  Header header =
      header_for(peer, static_cast<std::uint8_t>(sequenced | (packet.urgent ? acknowledge_now : 0) |
                                                 (more ? has_more : 0)));
  header.sequence = packet.sequence;
  burst_.add(peer, packet, header, now);
  peer.pacing.sent(packet.charge);
  if (peer.unacknowledged.in_flight() == packet.charge) peer.progressed_at = now;
  mark_timed(peer, now);
}

void Endpoint::acknowledge(Peer& peer) {
  Header header = header_for(peer, 0);
  header.sequence = peer.received.next_expected();
  struct {
    Record record;
    std::uint32_t bits[max_unacknowledged / 32 - 1];
  } longer{};
  std::size_t words = 0;
  for (std::uint32_t i = 0; peer.received.ahead() != 0 && i < std::size(longer.bits); ++i) {
    longer.bits[i] = peer.received.received_behind(32 * (i + 1));
    if (longer.bits[i] != 0) words = i + 1;
  }
  longer.record = {
      static_cast<std::uint32_t>(words * sizeof(std::uint32_t)), RecordKind::received, {}};
  burst_.add(peer, header, &longer, words != 0 ? sizeof longer.record + longer.record.size : 0);
}

std::uint32_t Endpoint::charge_of(const Peer& peer, std::size_t size) const noexcept {
  if (size <= peer.path) [[likely]]
    return static_cast<std::uint32_t>(socket_.charge(size));
  return static_cast<std::uint32_t>(Burst::datagrams_of(peer, size) * socket_.charge(peer.path));
}

void Endpoint::mark_timed(Peer& peer, Time now) {
  if (peer.is_timed) return;
  if (peer.search.is_to_begin()) [[unlikely]]
    begin_search(peer, now);
  next_timer_ = std::min(next_timer_, now + peer.round_trip.timeout());
  peer.is_timed = true;
  timed_.push_back(&peer);
}

void Endpoint::look_at_timers(Time now) {
  next_timer_ = ~Time{0};
  for (std::size_t i = 0; i < timed_.size();) {
    Peer& peer = *timed_[i];
    if (now >= peer.progressed_at + peer.round_trip.timeout()) {
      // Whatever the windows are: the acknowledgement reports what of the rest has arrived. Where
      // all are lost already, they go on as the windows allow.
      if (Packet* packet = peer.unacknowledged.latest()) {
        ++counts_.timeouts;
        look_for_silence(peer, now);
        peer.round_trip.timed_out();
        peer.congestion.timed_out(peer.round_trip.timeouts_in_a_row());
        if (peer.round_trip.timeouts_in_a_row() > suspect_timeouts)
          suspect(peer, packet->datagram_size(), now);
        peer.unacknowledged.make_probe(*packet);
        packet->charge = charge_of(peer, packet->datagram_size());
        put_on_wire(peer, *packet, now);
      }
      peer.progressed_at = now;
    }
    if (peer.unacknowledged.empty()) {
      peer.is_timed = false;
      timed_[i] = timed_.back();
      timed_.pop_back();
      continue;
    }
    next_timer_ = std::min(next_timer_, peer.progressed_at + peer.round_trip.timeout());
    ++i;
  }
  search_paths(now);
}

void Endpoint::end_poll(bool idle, Time now) {
  sends_since_poll_ = 0;
  last_gathered_out_ = now;
  if (requests_refused_ && buffers_.has_recovered(request_channel)) [[unlikely]] {
    requests_refused_ = false;
    for (Peer& peer : peers_)
      if (peer.was_stopped) acknowledge(peer);
  }
  for (std::size_t i = 0; i < busy_.size();) {
    Peer& peer = *busy_[i];
    transmit(peer, now);
    if (peer.has_queued() && !peer.is_gone) {
      ++i;
      continue;
    }
    peer.is_busy = false;
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
  for (std::size_t i = 0; i < owed_.size();) {
    Peer& peer = *owed_[i];
    const bool now_or_never = peer.answer_now || idle || peer.unanswered >= 16 ||
                              peer.unanswered_charge >= peer.share.granted / 8;
    if (peer.unanswered != 0 && !now_or_never) {
      ++i;
      continue;
    }
    if (peer.unanswered != 0 || peer.answer_now) acknowledge(peer);
    peer.is_owed = false;
    owed_[i] = owed_.back();
    owed_.pop_back();
  }
  if (now >= next_timer_) look_at_timers(now);
  hand_over();
}

bool Endpoint::may_wait(Time now, Time& until) {
  if (threaded_ && !lock_.try_lock()) {
    until = std::min(until, now + short_wait);
    return true;
  }
  now = advance_clock(now);
  // An acknowledgement leaves with a poll that finds nothing.
  bool may =
      std::exchange(received_at_wait_, counts_.received) == counts_.received && owed_.empty();
  if (arrivals_[request_channel].count() != 0 || arrivals_[reply_channel].count() != 0) {
    may = may && lacks_packets_;
    until = std::min(until, now + short_wait);
  }
  for (const Peer* peer : busy_) until = std::min(until, resumes_at(*peer, now));
  until = std::min(until, next_timer_);
  may = may && until > now;
  if (may) watched_until_ = until;
  unlock();
  return may;
}

Time Endpoint::resumes_at(const Peer& peer, Time now) noexcept {
  if (peer.is_gone) return ~Time{0};
  // With something in flight an acknowledgement lets more follow, or a timer of it.
  const bool awaits_answer = peer.unacknowledged.in_flight() != 0;
  Time at = awaits_answer ? ~Time{0} : now + short_wait;
  if (!peer.pacing.may_send(peer.unacknowledged.in_flight() + 1))
    at = std::min(at, peer.pacing.opens_at(std::min(peer.window, peer.congestion.window()),
                                           peer.round_trip.mean(), now));
  // One that is due leaves once what is in flight is acknowledged.
  if (peer.refuses_requests && peer.probe_at > now) at = std::min(at, peer.probe_at);
  return at;
}

void Endpoint::done_with(Peer& peer, Packet& packet) {
  for (Transfer* transfer = packet.transfer; transfer != nullptr;) {
    Transfer* const next = transfer->in_packet;
    one_sided_.arrived(*transfer);
    transfer = next;
  }
  if (packet.is_slab)
    slabs_.give_back(peer, packet);
  else
    stream_packets_.give_back(&packet);
}

}  // namespace gex::net::udp
