#include "net/udp/sender.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/cache_line.h"
#include "net/udp/departure.h"

namespace gex::net::udp {

namespace {

/// So many records after a poll leave at once, whatever is under way: else the last message of a
/// barrier would wait for as long as its sender computes. With 16 a flood of 8 bytes (gexperf's
/// udp.am.8.flood) takes more than four times as long, as each is a call of the system's.
constexpr std::uint32_t prompt_sends = 2;
/// So many leave together: more would save little of a call of the system's. Against 64, a flood of
/// 8 bytes takes 1.5 times as long with 16, 1.15 times with 32, and 0.96 times with 256.
constexpr std::uint32_t max_gathered = 64;
/// Time between two of a row; after a longer one nothing is gathered. The longer one is for where
/// the first of the two has taken a call of the system's. With 3 or 100 us in its place floods and
/// round trips of short messages take equally long; it bounds what waits for a slow sender.
constexpr Time row_gap = 3'000;
constexpr Time row_gap_with_call = 25'000;
/// Packets gathered for one peer while others are sent to leave after so long.
constexpr Time gathering = 50'000;
/// Streams are not cut into less.
constexpr std::size_t least_cut = 2816;

/// After so long without a first answer, and so many repetitions, a warning is printed.
constexpr Time silence = 10'000'000'000;
constexpr std::uint32_t repetitions_in_silence = 16;
/// A packet that was sent so often may be too large for the way; after so many timeouts in a row,
/// too.
constexpr std::uint8_t suspect_transmissions = 3;
constexpr std::uint32_t suspect_timeouts = 2;
/// After so long packets are tried again that the system holds up.
constexpr Time short_wait = 100'000;

/// Bytes that are sent in place of memory that has gone; see `Sender::forget`.
constexpr std::size_t max_payload = 65536;
alignas(cache_line) constexpr std::array<std::byte, max_payload> nothing{};

/// Makes a packet of the next `bytes` of a stream, which stay where they are.
void cut_into(Packet& packet, Stream& stream, std::size_t bytes) noexcept {
  std::byte* const record = packet.bytes() + sizeof(Header);
  if (stream.kind == Stream::put) {
    const PutDetails details{stream.remote + stream.cut, stream.segment, 0, 0};
    std::memcpy(write_record(record, RecordKind::put, bytes), &details, sizeof details);
  } else {
    const GetDataDetails details{stream.cut, stream.get, 0, 0};
    std::memcpy(write_record(record, RecordKind::get_data, bytes), &details, sizeof details);
  }
  packet.traffic = Traffic::one_sided;
  packet.size = front_size;
  packet.payload = stream.local == nullptr ? nothing.data() : stream.local + stream.cut;
  packet.payload_size = static_cast<std::uint32_t>(bytes);
  packet.streams = &stream;
  stream.cut += bytes;
  packet.acknowledge_now = stream.cut == stream.size && stream.kind == Stream::put;
  ++stream.packets;
}

}  // namespace

void Sender::added(Peer& peer, std::size_t bytes, Time now) {
  mark_busy(peer);
  peer.queued += bytes;
  // What is gathered leaves with a later call at the latest, which may not come before this process
  // has computed for long. So only some in a row are gathered; of larger ones the more, the more is
  // on its way.
  ++added_since_poll_;
  ++peer.gathered;
  const Time gap = endpoint_.burst.calls() != calls_at_last_added_ ? row_gap_with_call : row_gap;
  const bool in_a_row = now - std::exchange(last_added_, now) < gap;
  calls_at_last_added_ = endpoint_.burst.calls();
  const std::size_t enough = std::clamp(peer.unacknowledged.in_flight(), endpoint_.settings.bundle,
                                        endpoint_.settings.batch);
  if (added_since_poll_ <= prompt_sends || !in_a_row || peer.unacknowledged.empty() ||
      peer.queued >= enough || peer.gathered >= max_gathered)
    transmit(peer, now);
  if (in_a_row && now - last_gathered_out_ < gathering) return;
  // What is queued for other peers goes out too.
  last_gathered_out_ = now;
  for (Peer* other : busy_)
    if (other->queued != 0) transmit(*other, now);
}

void Sender::queue(Peer& peer, Stream& stream) {
  peer.streams.push(&stream);
  mark_busy(peer);
}

void Sender::hand_over() {
  endpoint_.burst.send();
  endpoint_.burst.for_refused([&](Peer& peer) { mark_busy(peer); });
}

void Sender::mark_busy(Peer& peer) {
  if (peer.is_busy) return;
  peer.is_busy = true;
  busy_.push_back(&peer);
}

void Sender::transmit(Peer& peer, Time now) {
  peer.gathered = 0;
  if (peer.is_gone) [[unlikely]]
    return drop_queued(peer);
  if (now - peer.granted_at > ReceiveRoom::lifetime)
    peer.window = std::min(peer.window, peer.first_window);
  peer.pacing.update(peer.send_window(), peer.round_trip.mean(),
                     endpoint_.attendance.since_poll_before(now), now);
  for (Packet* packet = peer.unacknowledged.lost() != 0
                            ? peer.unacknowledged.lost_from(peer.unacknowledged.first_sequence())
                            : nullptr;
       packet != nullptr; packet = peer.unacknowledged.lost_from(packet->sequence + 1)) {
    packet->charge = charge_of(peer, packet->datagram_size());
    const Departure departure =
        departure_of(peer, packet->traffic, /*is_new=*/false, packet->charge, now);
    if (departure == Departure::requests_refused) continue;
    if (departure != Departure::allowed) return;
    add_to_burst(peer, *packet, now);
  }
  while (Packet* const packet = next_packet(peer, now)) {
    peer.unacknowledged.add(*packet);
    add_to_burst(peer, *packet, now);
  }
}

Packet* Sender::next_packet(Peer& peer, Time now) {
  // Replies first: they give room and credits back.
  for (const Traffic traffic : {Traffic::replies, Traffic::one_sided, Traffic::requests}) {
    LinkedQueue<Packet>& ready = peer.ready[at(traffic)];
    Packet* packet = ready.empty() ? peer.open[at(traffic)] : ready.first();
    if (packet == nullptr) continue;
    packet->charge = charge_of(peer, packet->size);
    const Departure departure = departure_of(peer, traffic, /*is_new=*/true, packet->charge, now);
    if (departure == Departure::requests_refused) continue;
    if (departure != Departure::allowed) return nullptr;
    GEX_ASSERT(peer.queued >= packet->record_bytes());
    peer.queued -= packet->record_bytes();
    if (ready.empty())
      peer.open[at(traffic)] = nullptr;
    else
      ready.pop();
    return packet;
  }
  return peer.streams.empty() ? nullptr : cut_next(peer, now);
}

Packet* Sender::cut_next(Peer& peer, Time now) {
  Stream& stream = *peer.streams.first();
  const Cut next = next_cut(peer, stream);
  if (departure_of(peer, Traffic::one_sided, /*is_new=*/true, next.charge, now) !=
      Departure::allowed)
    return nullptr;
  Packet* const packet = stream_packets_.take();
  if (packet == nullptr) return nullptr;
  cut_into(*packet, stream, next.bytes);
  packet->charge = static_cast<std::uint32_t>(next.charge);
  if (stream.cut == stream.size) peer.streams.pop();
  return packet;
}

Sender::Cut Sender::next_cut(const Peer& peer, const Stream& stream) const noexcept {
  std::size_t bytes = std::min<std::size_t>(peer.stream_payload, stream.size - stream.cut);
  std::size_t charge = endpoint_.socket.charge(front_size + bytes);
  while (charge > peer.max_share() && bytes > least_cut) {
    bytes = bytes / 2 & ~std::size_t{63};
    charge = endpoint_.socket.charge(front_size + bytes);
  }
  return {bytes, charge};
}

void Sender::add_to_burst(Peer& peer, Packet& packet, Time now) {
  if (packet.transmissions != 0) {
    ++endpoint_.counts.sent_again;
    if (packet.transmissions >= suspect_transmissions)
      endpoint_.paths.suspect(peer, packet.datagram_size(), now);
  }
  Header header = endpoint_.acknowledgements.header_for(
      peer, static_cast<std::uint8_t>(sequenced | (packet.acknowledge_now ? acknowledge_now : 0)));
  header.sequence = packet.sequence;
  endpoint_.burst.add(peer, packet, header, now);
  peer.pacing.sent(packet.charge);
  if (peer.unacknowledged.in_flight() == packet.charge) peer.progressed_at = now;
  if (peer.is_timed) return;
  start_timer(peer, now);
  if (peer.search.is_to_begin()) [[unlikely]]
    endpoint_.paths.begin(peer, now);
}

std::uint32_t Sender::charge_of(const Peer& peer, std::size_t size) const noexcept {
  if (size <= peer.path_bytes) [[likely]]
    return static_cast<std::uint32_t>(endpoint_.socket.charge(size));
  return static_cast<std::uint32_t>(Burst::datagrams_of(peer, size) *
                                    endpoint_.socket.charge(peer.path_bytes));
}

void Sender::start_timer(Peer& peer, Time now) {
  next_timer_ = std::min(next_timer_, now + peer.round_trip.timeout());
  peer.is_timed = true;
  timed_.push_back(&peer);
}

void Sender::take_header(Peer& peer, const Header& header, bool waited, bool is_newest, Time now) {
  acknowledged(peer, header.next_expected, header.received, 0, waited, now);
  // An acknowledgement that a later one has overtaken is out of date.
  if (is_newest) {
    if (peer.round_trip.timeouts_in_a_row() != 0) [[unlikely]]
      shorten_wait(peer);
    peer.highest_ack = header.next_expected;
    peer.window = std::size_t{header.window} * window_unit;
    peer.granted_at = now;
    const bool refuses = (header.flags & no_requests) != 0;
    if (refuses && !peer.refuses_requests) peer.ask_again_at = now + ask_again_interval(peer);
    peer.refuses_requests = refuses;
    // They were not accepted, or will be acknowledged; what else is sent must not wait for them.
    if (refuses)
      peer.unacknowledged.for_all([&](Packet& packet) {
        if (packet.traffic == Traffic::requests) peer.unacknowledged.mark_lost(packet);
      });
  }
}

void Sender::shorten_wait(Peer& peer) noexcept {
  if (peer.round_trip.something_came() && peer.is_timed)
    next_timer_ = std::min(next_timer_, peer.progressed_at + peer.round_trip.timeout());
}

void Sender::shorten_waits() noexcept {
  for (Peer* peer : timed_) shorten_wait(*peer);
}

void Sender::find_losses(Peer& peer) {
  if (peer.unacknowledged.has_gap())
    peer.unacknowledged.find_lost([&](Packet& packet) { peer.congestion.lost(packet.charge); });
  if (peer.unacknowledged.lost() != 0) mark_busy(peer);
}

void Sender::acknowledged(Peer& peer, std::uint32_t next_expected, std::uint32_t bits,
                          std::uint32_t skipped, bool waited, Time now) {
  peer.unacknowledged.acknowledge(next_expected, bits, skipped, [&](Packet& packet) {
    if (packet.transmissions == 1) peer.round_trip.sample(now - packet.sent_at);
    peer.round_trip.progressed();
    peer.progressed_at = now;
    peer.congestion.acknowledged(packet.charge, peer.round_trip.least(), peer.round_trip.mean(),
                                 waited, now);
    done_with(peer, packet);
  });
}

void Sender::peer_left(Peer& peer) {
  hand_over();
  peer.is_gone = true;
  peer.unacknowledged.clear([&](Packet& packet) { done_with(peer, packet); });
  drop_queued(peer);
}

void Sender::drop_queued(Peer& peer) {
  for (std::size_t kind = 0; kind < traffic_kinds; ++kind) {
    while (!peer.ready[kind].empty()) done_with(peer, *peer.ready[kind].pop());
    if (Packet* const open = std::exchange(peer.open[kind], nullptr)) done_with(peer, *open);
  }
  peer.queued = 0;
  while (!peer.streams.empty()) endpoint_.one_sided.abandon(*peer.streams.pop());
}

void Sender::forget(const Peers& peers, const Segments::Range& memory) {
  const auto is_there = [&](const std::byte* bytes) {
    return reinterpret_cast<std::uint64_t>(bytes) - memory.begin < memory.size;
  };
  for (const auto& peer : peers.made()) {
    peer->unacknowledged.for_all([&](Packet& packet) {
      const bool answers = packet.streams != nullptr && packet.streams->kind == Stream::answer;
      if (answers && packet.payload_size != 0 && is_there(packet.payload))
        packet.payload = nothing.data();
    });
    for (Stream* stream = peer->streams.first(); stream != nullptr; stream = stream->next)
      if (stream->kind == Stream::answer && is_there(stream->local)) stream->local = nullptr;
  }
}

void Sender::send_queued(Time now) {
  added_since_poll_ = 0;
  last_gathered_out_ = now;
  for (std::size_t i = 0; i < busy_.size();) {
    Peer& peer = *busy_[i];
    transmit(peer, now);
    if (peer.has_queued()) {
      ++i;
      continue;
    }
    peer.is_busy = false;
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
}

void Sender::look_at_timers(Time now) {
  if (now >= next_timer_) find_overdue(now);
  if (now >= endpoint_.paths.next_at()) endpoint_.paths.search(now);
}

void Sender::find_overdue(Time now) {
  next_timer_ = ~Time{0};
  for (std::size_t i = 0; i < timed_.size();) {
    Peer& peer = *timed_[i];
    if (now >= peer.progressed_at + peer.round_trip.timeout()) {
      // Whatever the windows are: the acknowledgement reports what of the rest has arrived. Where
      // all are lost already, they go on as the windows allow.
      if (Packet* packet = peer.unacknowledged.latest()) {
        ++endpoint_.counts.timeouts;
        look_for_silence(peer, now);
        peer.round_trip.timed_out();
        peer.congestion.timed_out(peer.round_trip.timeouts_in_a_row());
        if (peer.round_trip.timeouts_in_a_row() > suspect_timeouts)
          endpoint_.paths.suspect(peer, packet->datagram_size(), now);
        peer.unacknowledged.repeat_latest(*packet);
        packet->charge = charge_of(peer, packet->datagram_size());
        add_to_burst(peer, *packet, now);
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
}

void Sender::look_for_silence(Peer& peer, Time now) {
  if (peer.highest_ack != 0 || has_warned_) return;
  if (peer.unheard_since == 0) peer.unheard_since = now;
  if (now - peer.unheard_since < silence ||
      peer.round_trip.timeouts_in_a_row() < repetitions_in_silence)
    return;
  has_warned_ = true;
  if (endpoint_.host.warn == nullptr) return;
  endpoint_.host.warn(
      ("udp: nothing has come back from rank " + std::to_string(peer.rank) + " (" +
       peer.address.host_text() + ", port " + std::to_string(peer.address.port()) + ") in " +
       std::to_string(silence / 1'000'000'000) +
       " s; unless it has not polled since the job began, UDP does not get through: a "
       "firewall has to let it pass between the hosts, on the ports of GEX_UDP_PORTS "
       "(docs/udp.md)")
          .c_str());
}

Time Sender::next_at(Time now) const noexcept {
  Time next = std::min(next_timer_, endpoint_.paths.next_at());
  for (const Peer* peer : busy_) next = std::min(next, resumes_at(*peer, now));
  return next;
}

Time Sender::resumes_at(const Peer& peer, Time now) noexcept {
  // With something in flight an acknowledgement lets more follow, or a timer of it.
  const bool awaits_acknowledgement = peer.unacknowledged.in_flight() != 0;
  Time at = awaits_acknowledgement ? ~Time{0} : now + short_wait;
  if (!peer.pacing.may_send(peer.unacknowledged.in_flight() + 1))
    at = std::min(at, peer.pacing.opens_at(peer.send_window(), peer.round_trip.mean(), now));
  // One that is due leaves once what is in flight is acknowledged.
  if (peer.refuses_requests && peer.ask_again_at > now) at = std::min(at, peer.ask_again_at);
  return at;
}

void Sender::done_with(Peer& peer, Packet& packet) {
  for (Stream* stream = packet.streams; stream != nullptr;) {
    Stream* const next = stream->in_packet;
    endpoint_.one_sided.arrived(*stream);
    stream = next;
  }
  if (packet.is_slab)
    endpoint_.packer.give_back(peer, packet);
  else
    stream_packets_.give_back(&packet);
}

}  // namespace gex::net::udp
