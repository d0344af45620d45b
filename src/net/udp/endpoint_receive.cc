// Endpoint: what comes from peers, and how it is handed up.

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/udp/endpoint.h"

namespace gex::net::udp {

namespace {

constexpr Channel channel_of(RecordKind kind) noexcept {
  return kind == RecordKind::request || kind == RecordKind::request_part ? request_channel
                                                                         : reply_channel;
}

}  // namespace

std::size_t Endpoint::receive(Time now) {
  const std::size_t room = buffers_.room();
  std::size_t ready = 0;
  for (; ready < places_wanted_; ++ready) {
    if (place_buffers_[ready] == nullptr) place_buffers_[ready] = buffers_.take();
    if (place_buffers_[ready] == nullptr) break;
    Incoming& place = places_[ready];
    place.pieces[0] = {place_buffers_[ready]->bytes(), room};
    place.count = 1;
  }
  const std::size_t came = socket_.receive(std::span(places_.data(), ready));
  std::size_t datagrams = 0;
  for (std::size_t i = 0; i < came; ++i) {
    ReceiveBuffers::Buffer& buffer = *place_buffers_[i];
    const std::uint64_t before = counts_.received;
    take_place(places_[i], buffer, now);
    datagrams += counts_.received - before;
    // One that holds messages is theirs now.
    if (buffer.messages != 0) place_buffers_[i] = nullptr;
  }
  // One datagram is often all that comes; where two follow one another, more are likely.
  const bool was_full = std::exchange(was_full_, came == ready);
  if (came < ready)
    places_wanted_ = std::max<std::size_t>(1, came);
  else if (was_full)
    places_wanted_ = std::clamp<std::size_t>(2 * ready, 1, max_places);
  return datagrams;
}

void Endpoint::take_place(Incoming& place, ReceiveBuffers::Buffer& buffer, Time now) {
  std::byte* bytes = buffer.bytes();
  for (std::size_t left = place.bytes; left != 0;) {
    ++counts_.received;
    Header header{};
    if (left >= sizeof header) std::memcpy(&header, bytes, sizeof header);
    if (header.size < sizeof header || header.size > left) {
      ++counts_.unauthenticated;
      return;
    }
    take_datagram(header, bytes + sizeof header, buffer, place, now);
    bytes += header.size;
    left -= header.size;
  }
}

Peer* Endpoint::sender_of(const Header& header, const std::byte* rest, std::size_t rest_size,
                          std::uint64_t& number) {
  if (header.source >= peers_.size() || header.source == host_.rank) return nullptr;
  Peer& peer = peers_[header.source];
  std::size_t covered = rest_size;
  if ((header.flags & bulk) != 0) [[unlikely]] {
    if (settings_.covers_bulk || rest_size < front_size - sizeof header) return nullptr;
    covered = front_size - sizeof header;
  }
  number = peer.freshness.whole(header.number);
  Header sealed = header;
  sealed.tag = 0;
  const iovec piece{const_cast<std::byte*>(rest), covered};
  const std::uint64_t tag = seal_.tag(peer.key_from, static_cast<std::uint32_t>(number >> 32),
                                      &sealed, sizeof sealed, rest_size, std::span(&piece, 1));
  return tag == header.tag ? &peer : nullptr;
}

void Endpoint::follow(Peer& peer, const Address& from, bool is_copy, Time now) {
  // A copy that another process sends from elsewhere does not lead there, even if it arrives before
  // the datagram itself: soon that comes from where the peer is.
  if (from == peer.address) {
    peer.elsewhere_since = 0;
  } else if (!is_copy && peer.elsewhere_since == 0) {
    peer.elsewhere_since = now;
  } else if (!is_copy && now - peer.elsewhere_since > moves_after) {
    peer.address = from;
    peer.elsewhere_since = 0;
    ++counts_.moved;
  }
}

void Endpoint::take_datagram(const Header& header, const std::byte* rest,
                             ReceiveBuffers::Buffer& buffer, const Incoming& place, Time now) {
  const std::size_t rest_size = header.size - sizeof header;
  std::uint64_t number = 0;
  Peer* const peer = sender_of(header, rest, rest_size, number);
  if (peer == nullptr) {
    ++counts_.unauthenticated;
    return;
  }
  const bool is_copy = !peer->freshness.accept(number);
  if (socket_.limits().names_senders) follow(*peer, place.from, is_copy, now);
  if (is_copy) {
    ++counts_.duplicates;
    return;
  }
  room_.received_from(peer->share);
  if (place.congested) peer->congestion.marked();
  take_acknowledgements(*peer, header, rest, rest_size, number == peer->freshness.newest(), now);
  if ((header.flags & leaving) != 0) {
    hand_over();
    peer->is_gone = true;
    peer->unacknowledged.clear([&](Packet& packet) { done_with(*peer, packet); });
  }
  if ((header.flags & sequenced) == 0) return;

  if (!peer->is_owed) {
    peer->is_owed = true;
    owed_.push_back(peer);
  }
  switch (peer->received.look(header.sequence)) {
    case ReceivedSequence::is_duplicate:
      // Its sender has not seen the acknowledgement.
      ++counts_.duplicates;
      ++peer->unanswered;
      peer->answer_now = true;
      return;
    case ReceivedSequence::is_beyond:
      ++counts_.malformed;
      return;
    case ReceivedSequence::is_new:
      break;
  }
  if (rest_size > sizeof(Record) &&
      static_cast<RecordKind>(rest[offsetof(Record, kind)]) == RecordKind::fragment) [[unlikely]]
    return take_fragment(*peer, header, rest, rest_size, now);
  // Of datagrams that were joined and are no multiple of 16 long, messages do not lie where they
  // may.
  ReceiveBuffers::Buffer* moved = nullptr;
  if (reinterpret_cast<std::uintptr_t>(rest) % 16 != 8) [[unlikely]] {
    moved = buffers_.take();
    if (moved != nullptr)
      rest = static_cast<std::byte*>(std::memcpy(moved->bytes(), rest, rest_size));
  }
  take_records(*peer, header, rest, rest_size, moved != nullptr ? *moved : buffer, now);
  if (moved != nullptr && moved->messages == 0) buffers_.give_back(*moved);
}

void Endpoint::take_records(Peer& peer, const Header& header, const std::byte* rest,
                            std::size_t rest_size, ReceiveBuffers::Buffer& buffer, Time now) {
  const bool is_placed = reinterpret_cast<std::uintptr_t>(rest) % 16 == 8;
  switch (is_placed ? inspect(peer, rest, rest_size, buffer) : Verdict::no_room) {
    case Verdict::malformed:
      ++counts_.malformed;
      return;
    case Verdict::no_room:
      ++counts_.refused;
      ++peer.unanswered;
      peer.answer_now = true;
      return;
    case Verdict::acceptable:
      break;
  }
  peer.received.accept(header.sequence);
  peer.kept_waiting |= absence_ != 0;
  ++peer.unanswered;
  peer.unanswered_charge += socket_.charge(sizeof header + rest_size);
  if ((header.flags & acknowledge_now) != 0) peer.answer_now = true;
  consume(peer, rest, rest_size, buffer, now);
}

void Endpoint::take_acknowledgements(Peer& peer, const Header& header, const std::byte* rest,
                                     std::size_t rest_size, bool is_newest, Time now) {
  const bool waited = absence_ > 2 * peer.round_trip.mean() || (header.flags & kept_waiting) != 0;
  acknowledged(peer, header.next_expected, header.received, 0, waited, now);
  // Of two that have overtaken one another the later one holds.
  if (is_newest) {
    peer.highest_ack = header.next_expected;
    peer.window = std::size_t{header.window} * window_unit;
    peer.granted_at = now;
    const bool refuses = (header.flags & no_requests) != 0;
    if (refuses && !peer.refuses_requests) peer.probe_at = now + 4 * peer.round_trip.timeout();
    peer.refuses_requests = refuses;
    // They were not accepted, or will be acknowledged; what else is sent must not wait for them.
    if (refuses)
      peer.unacknowledged.for_all([&](Packet& packet) {
        if (packet.traffic == Traffic::requests) peer.unacknowledged.mark_lost(packet);
      });
  }
  if ((header.flags & sequenced) == 0) {
    Records records(rest, rest_size);
    while (records.next()) {
      if (records.kind() == RecordKind::probe) take_probe(peer, records.details<ProbeDetails>());
      if (records.kind() == RecordKind::probe_answer)
        take_probe_answer(peer, records.details<ProbeDetails>(), now);
      if (records.kind() != RecordKind::received || records.size() > max_unacknowledged / 8) break;
      for (std::size_t i = 0; i + sizeof(std::uint32_t) <= records.size();
           i += sizeof(std::uint32_t)) {
        std::uint32_t bits;
        std::memcpy(&bits, records.data() + i, sizeof bits);
        acknowledged(peer, header.next_expected, bits, static_cast<std::uint32_t>(32 + 8 * i),
                     waited, now);
      }
    }
  }
  if (peer.unacknowledged.has_gap())
    peer.unacknowledged.find_lost([&](Packet& packet) { peer.congestion.lost(packet.charge); });
  if (peer.unacknowledged.lost() != 0) mark_busy(peer);
}

void Endpoint::acknowledged(Peer& peer, std::uint32_t next_expected, std::uint32_t bits,
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

bool Endpoint::is_valid(const PartDetails& part, std::size_t size) const noexcept {
  return part.total <= settings_.max_message && size != 0 && part.offset <= part.total &&
         size <= part.total - part.offset;
}

Endpoint::Verdict Endpoint::inspect(const Peer& peer, const std::byte* rest, std::size_t rest_size,
                                    const ReceiveBuffers::Buffer& buffer) {
  Records records(rest, rest_size);
  std::size_t gets = 0;
  std::size_t parts = 0;
  bool fits = true;
  while (records.next()) {
    switch (records.kind()) {
      case RecordKind::request:
      case RecordKind::reply:
        if (records.size() > settings_.max_message) return Verdict::malformed;
        fits &= buffers_.may_hold(channel_of(records.kind()), buffer);
        break;
      case RecordKind::request_part:
      case RecordKind::reply_part: {
        const auto part = records.details<PartDetails>();
        if (++parts != 1 || !is_valid(part, records.size())) return Verdict::malformed;
        const Channel channel = channel_of(records.kind());
        const bool is_known =
            std::any_of(peer.partials.begin(), peer.partials.end(), [&](const Partial& partial) {
              return partial.number == part.number && partial.channel == channel;
            });
        fits &= is_known || buffers_.may_hold(channel);
        break;
      }
      case RecordKind::put: {
        const auto details = records.details<PutDetails>();
        if (segments_.at(details.segment, details.address, records.size()) == nullptr)
          return Verdict::malformed;
        break;
      }
      case RecordKind::get: {
        const auto details = records.details<GetDetails>();
        if (records.size() != 0 || details.size == 0 ||
            segments_.at(details.segment, details.address, details.size) == nullptr)
          return Verdict::malformed;
        fits &= ++gets <= one_sided_.answers_left();
        break;
      }
      case RecordKind::get_data:
        if (!one_sided_.expects(rank_of(peer), records.details<GetDataDetails>(), records.size()))
          return Verdict::malformed;
        break;
      case RecordKind::received:
      case RecordKind::probe:
      case RecordKind::probe_answer:
      case RecordKind::fragment:
        return Verdict::malformed;
    }
  }
  if (records.malformed()) return Verdict::malformed;
  return fits ? Verdict::acceptable : Verdict::no_room;
}

void Endpoint::consume(Peer& peer, const std::byte* rest, std::size_t rest_size,
                       ReceiveBuffers::Buffer& buffer, Time now) {
  const std::uint32_t source = rank_of(peer);
  Records records(rest, rest_size);
  while (records.next()) {
    switch (records.kind()) {
      case RecordKind::request:
      case RecordKind::reply: {
        const Channel channel = channel_of(records.kind());
        buffers_.hold(channel, buffer);
        arrivals_[channel].push(
            {records.data(), static_cast<std::uint32_t>(records.size()), source, &buffer});
        break;
      }
      case RecordKind::request_part:
      case RecordKind::reply_part:
        take_part(peer, channel_of(records.kind()), records.details<PartDetails>(), records.data(),
                  records.size());
        break;
      case RecordKind::put: {
        const auto details = records.details<PutDetails>();
        std::byte* to = segments_.at(details.segment, details.address, records.size());
        if (to != nullptr && records.size() != 0) std::memcpy(to, records.data(), records.size());
        break;
      }
      case RecordKind::get:
        begin_answer(peer, records.details<GetDetails>(), now);
        break;
      case RecordKind::get_data:
        one_sided_.take(source, records.details<GetDataDetails>(), records.data(), records.size());
        break;
      case RecordKind::received:
      case RecordKind::probe:
      case RecordKind::probe_answer:
      case RecordKind::fragment:
        break;
    }
  }
  if (!peer.transfers.empty()) transmit(peer, now);
}

void Endpoint::take_part(Peer& peer, Channel channel, const PartDetails& part,
                         const std::byte* data, std::size_t size) {
  auto partial =
      std::find_if(peer.partials.begin(), peer.partials.end(), [&](const Partial& known) {
        return known.number == part.number && known.channel == channel;
      });
  if (partial == peer.partials.end()) {
    ReceiveBuffers::Buffer* buffer = buffers_.take();
    // Of a channel's share there is always one.
    if (buffer == nullptr) host_.fatal("udp: no receive buffer is left for a message in parts");
    buffers_.hold(channel, *buffer);
    peer.partials.push_back({part.number, channel, part.total, 0, buffer});
    partial = peer.partials.end() - 1;
  }
  if (partial->total != part.total) {
    ++counts_.malformed;
    return;
  }
  std::memcpy(partial->buffer->message() + part.offset, data, size);
  partial->received += static_cast<std::uint32_t>(size);
  if (partial->received < partial->total) return;
  arrivals_[channel].push(
      {partial->buffer->message(), partial->total, rank_of(peer), partial->buffer});
  *partial = peer.partials.back();
  peer.partials.pop_back();
}

std::size_t Endpoint::deliver(std::uint32_t channels, std::size_t most) {
  std::size_t delivered = 0;
  // What arrives while messages are delivered is for the next poll.
  std::size_t waiting[2] = {arrivals_[request_channel].count(), arrivals_[reply_channel].count()};
  // Replies first: they give room and credits back, and their handlers are short.
  for (const Channel channel : {reply_channel, request_channel}) {
    if ((channels >> channel & 1) == 0) continue;
    // A nested poll may have taken some of them.
    for (; waiting[channel] != 0 && delivered < most && arrivals_[channel].count() != 0;
         --waiting[channel]) {
      // A request is answered with a reply for which there must be packets. There always are but
      // for replies whose acknowledgements were lost: these come again.
      if (channel == request_channel && slabs_.left(peers_[arrivals_[channel].front().source],
                                                    Traffic::replies) < max_parts_) [[unlikely]] {
        lacks_packets_ = true;
        break;
      }
      const Arrival arrival = arrivals_[channel].pop();
      if (!burst_.empty()) hand_over();
      unlock();
      host_.deliver(arrival.source, channel, arrival.message, arrival.size);
      lock();
      buffers_.release(*arrival.buffer);
      ++delivered;
    }
  }
  return delivered;
}

std::size_t Endpoint::poll(std::uint32_t channels, std::size_t most, Time now) {
  if (threaded_ && !lock_.try_lock()) return 0;
  now = advance_clock(now);
  room_.look(now);
  // What comes while a thread sleeps wakes it.
  const Time attended = std::max(last_poll_, std::min(watched_until_, now));
  // What had arrived by then is not all received at once.
  if (now - attended > away)
    absence_ = now - attended;
  else if (!was_full_)
    absence_ = 0;
  poll_before_ = std::exchange(last_poll_, now);
  std::size_t waiting = 0;
  for (const Channel channel : {request_channel, reply_channel})
    waiting += (channels >> channel & 1) != 0 ? arrivals_[channel].count() : 0;
  std::size_t came = 0;
  if (waiting == 0 || waiting < most / 2 || std::exchange(lacks_packets_, false))
    came = receive(now);
  const std::size_t delivered = deliver(channels, most);
  end_poll(came == 0 && delivered == 0, now);
  // Relaxed: hints.
  if (came != 0) received_.store(counts_.received, std::memory_order_relaxed);
  has_unacknowledged_.store(!timed_.empty() || !busy_.empty(), std::memory_order_relaxed);
  unlock();
  return delivered;
}

}  // namespace gex::net::udp
