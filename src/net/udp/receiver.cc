#include "net/udp/receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/round_up.h"
#include "net/kit/fatal.h"

namespace gex::net::udp {

namespace {

constexpr Channel channel_of(RecordKind kind) noexcept {
  return kind == RecordKind::request || kind == RecordKind::request_part ? request_channel
                                                                         : reply_channel;
}

/// The memory of a put or get that `inspect` has found in a segment. It stays until the endpoint's
/// lock is released, even if the segment has been removed since: see Endpoint::forget.
std::byte* memory_at(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

std::size_t Receiver::receive(Time now) {
  const std::size_t room = endpoint_.buffers.room();
  std::size_t ready = 0;
  for (; ready < places_wanted_; ++ready) {
    if (place_buffers_[ready] == nullptr) place_buffers_[ready] = endpoint_.buffers.take();
    if (place_buffers_[ready] == nullptr) break;
    Incoming& place = places_[ready];
    place.pieces[0] = {place_buffers_[ready]->bytes(), room};
    place.count = 1;
  }
  const std::size_t came = endpoint_.socket.receive(std::span(places_.data(), ready));
  std::size_t datagrams = 0;
  for (std::size_t i = 0; i < came; ++i) {
    ReceiveBuffers::Buffer& buffer = *place_buffers_[i];
    const std::uint64_t before = endpoint_.counts.received;
    handle_incoming(places_[i], buffer, now);
    datagrams += endpoint_.counts.received - before;
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

void Receiver::handle_incoming(Incoming& place, ReceiveBuffers::Buffer& buffer, Time now) {
  std::byte* bytes = buffer.bytes();
  for (std::size_t left = place.bytes; left != 0;) {
    ++endpoint_.counts.received;
    Header header{};
    if (left >= sizeof header) std::memcpy(&header, bytes, sizeof header);
    if (header.size < sizeof header || header.size > left) {
      ++endpoint_.counts.unauthenticated;
      return;
    }
    handle_datagram(header, bytes + sizeof header, buffer, place, now);
    bytes += header.size;
    left -= header.size;
  }
}

Peer* Receiver::sender_of(const Header& header, const std::byte* rest, std::size_t rest_size,
                          std::uint64_t& number) {
  const std::uint32_t own = endpoint_.host.rank;
  if (header.source >= endpoint_.peers.ranks() || header.source == own) return nullptr;
  // A datagram that is not authenticated makes no peer.
  Peer* const peer = endpoint_.peers.find(header.source);
  std::size_t covered = rest_size;
  if ((header.flags & bulk) != 0) [[unlikely]] {
    if (endpoint_.settings.covers_bulk || rest_size < front_size - sizeof header) return nullptr;
    covered = front_size - sizeof header;
  }
  number = peer != nullptr ? peer->freshness.whole(header.number) : header.number;
  Header sealed = header;
  sealed.tag = 0;
  const iovec piece{const_cast<std::byte*>(rest), covered};
  const SipKey key =
      peer != nullptr
          ? peer->key_from
          : endpoint_.seal.key_of({header.source, endpoint_.directory.session_of(header.source),
                                   own, endpoint_.settings.session});
  const std::uint64_t tag =
      endpoint_.seal.tag(key, static_cast<std::uint32_t>(number >> 32), &sealed, sizeof sealed,
                         rest_size, std::span(&piece, 1));
  if (tag != header.tag) return nullptr;
  return peer != nullptr ? peer : &endpoint_.peers.find_or_make(header.source);
}

void Receiver::follow(Peer& peer, const Address& from, bool is_copy, Time now) {
  // A copy that another process sends from elsewhere does not lead there, even if it arrives before
  // the datagram itself: soon that comes from where the peer is.
  if (from == peer.address) {
    peer.elsewhere_since = 0;
  } else if (!is_copy && peer.elsewhere_since == 0) {
    peer.elsewhere_since = now;
  } else if (!is_copy && now - peer.elsewhere_since > moves_after) {
    peer.address = from;
    peer.elsewhere_since = 0;
    ++endpoint_.counts.moved;
  }
}

void Receiver::handle_datagram(const Header& header, const std::byte* rest,
                               ReceiveBuffers::Buffer& buffer, const Incoming& place, Time now) {
  const std::size_t rest_size = header.size - sizeof header;
  std::uint64_t number = 0;
  Peer* const peer = sender_of(header, rest, rest_size, number);
  if (peer == nullptr) {
    ++endpoint_.counts.unauthenticated;
    return;
  }
  const bool is_copy = !peer->freshness.accept(number);
  if (endpoint_.socket.limits().names_senders) follow(*peer, place.from, is_copy, now);
  if (is_copy) {
    ++endpoint_.counts.duplicates;
    return;
  }
  endpoint_.room.received_from(peer->share);
  if (place.congested) peer->congestion.marked();
  handle_header(*peer, header, rest, rest_size, number == peer->freshness.newest(), now);
  if ((header.flags & leaving) != 0) endpoint_.sender.peer_left(*peer);
  if ((header.flags & sequenced) == 0) return;

  endpoint_.acknowledgements.owe(*peer);
  switch (peer->received.state_of(header.sequence)) {
    case ReceivedSequence::is_duplicate:
      // Its sender has not seen the acknowledgement.
      ++endpoint_.counts.duplicates;
      return endpoint_.acknowledgements.owe_now(*peer);
    case ReceivedSequence::is_beyond:
      ++endpoint_.counts.malformed;
      return;
    case ReceivedSequence::is_new:
      break;
  }
  if (rest_size > sizeof(Record) &&
      static_cast<RecordKind>(rest[offsetof(Record, kind)]) == RecordKind::fragment) [[unlikely]]
    return handle_fragment(*peer, header, rest, rest_size, now);
  // Messages in joined datagrams whose size is no multiple of 16 are not aligned as they must be.
  ReceiveBuffers::Buffer* moved = nullptr;
  if (reinterpret_cast<std::uintptr_t>(rest) % 16 != 8) [[unlikely]] {
    moved = endpoint_.buffers.take();
    if (moved == nullptr) return refuse(*peer);
    rest = static_cast<std::byte*>(std::memcpy(moved->bytes(), rest, rest_size));
  }
  handle_records(*peer, header, rest, rest_size, moved != nullptr ? *moved : buffer, now);
  if (moved != nullptr && moved->messages == 0) endpoint_.buffers.give_back(*moved);
}

void Receiver::refuse(Peer& peer) {
  ++endpoint_.counts.refused;
  endpoint_.acknowledgements.owe_now(peer);
}

void Receiver::handle_records(Peer& peer, const Header& header, const std::byte* rest,
                              std::size_t rest_size, ReceiveBuffers::Buffer& buffer, Time now) {
  switch (inspect(peer, rest, rest_size, buffer)) {
    case Verdict::malformed:
      ++endpoint_.counts.malformed;
      return;
    case Verdict::no_room:
      return refuse(peer);
    case Verdict::acceptable:
      break;
  }
  consume(peer, rest, rest_size, buffer, now);
  // After its puts are in memory: an answer that it asks for may leave in `consume`, and what
  // leaves acknowledges what is accepted.
  peer.received.accept(header.sequence);
  peer.kept_waiting |= endpoint_.attendance.absence() != 0;
  endpoint_.acknowledgements.accepted(peer, endpoint_.socket.charge(sizeof header + rest_size),
                                      (header.flags & acknowledge_now) != 0);
  // Answers that are not copied leave before handlers run, which may take long: all of the
  // datagram's at once, and with them puts that wait.
  if (!peer.streams.empty()) endpoint_.sender.transmit(peer, now);
}

void Receiver::handle_header(Peer& peer, const Header& header, const std::byte* rest,
                             std::size_t rest_size, bool is_newest, Time now) {
  const bool waited = endpoint_.attendance.absence() > 2 * peer.round_trip.mean() ||
                      (header.flags & kept_waiting) != 0;
  endpoint_.sender.take_header(peer, header, waited, is_newest, now);
  if ((header.flags & sequenced) == 0)
    handle_unsequenced(peer, header, rest, rest_size, waited, now);
  endpoint_.sender.find_losses(peer);
}

void Receiver::handle_unsequenced(Peer& peer, const Header& header, const std::byte* rest,
                                  std::size_t rest_size, bool waited, Time now) {
  Records records(rest, rest_size);
  while (records.next()) {
    if (records.kind() == RecordKind::probe)
      endpoint_.paths.handle_probe(peer, records.details<ProbeDetails>());
    if (records.kind() == RecordKind::probe_answer)
      endpoint_.paths.handle_answer(peer, records.details<ProbeDetails>(), now);
    if (records.kind() != RecordKind::received || records.size() > max_unacknowledged / 8) break;
    for (std::size_t i = 0; i + sizeof(std::uint32_t) <= records.size();
         i += sizeof(std::uint32_t)) {
      std::uint32_t bits;
      std::memcpy(&bits, records.data() + i, sizeof bits);
      // Behind the 32 bits of the header, 8 for each byte before this word.
      endpoint_.sender.acknowledged(peer, header.next_expected, bits,
                                    static_cast<std::uint32_t>(32 + 8 * i), waited, now);
    }
  }
}

bool Receiver::is_valid(const PartDetails& part, std::size_t size) const noexcept {
  return part.total <= endpoint_.settings.max_message && size != 0 && part.offset <= part.total &&
         size <= part.total - part.offset;
}

Receiver::Verdict Receiver::inspect(const Peer& peer, const std::byte* rest, std::size_t rest_size,
                                    const ReceiveBuffers::Buffer& buffer) {
  Records records(rest, rest_size);
  std::size_t gets = 0;
  std::size_t parts = 0;
  bool fits = true;
  while (records.next()) {
    switch (records.kind()) {
      case RecordKind::request:
      case RecordKind::reply:
        if (records.size() > endpoint_.settings.max_message) return Verdict::malformed;
        fits &= endpoint_.buffers.may_hold(channel_of(records.kind()), buffer);
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
        fits &= is_known || endpoint_.buffers.may_hold(channel);
        break;
      }
      case RecordKind::put: {
        const auto details = records.details<PutDetails>();
        if (endpoint_.segments.at(details.segment, details.address, records.size()) == nullptr)
          return Verdict::malformed;
        break;
      }
      case RecordKind::get: {
        const auto details = records.details<GetDetails>();
        if (records.size() != 0 || details.size == 0 ||
            endpoint_.segments.at(details.segment, details.address, details.size) == nullptr)
          return Verdict::malformed;
        fits &= ++gets <= endpoint_.one_sided.answers_left();
        break;
      }
      case RecordKind::get_data:
        if (!endpoint_.one_sided.expects(peer.rank, records.details<GetDataDetails>(),
                                         records.size()))
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

void Receiver::consume(Peer& peer, const std::byte* rest, std::size_t rest_size,
                       ReceiveBuffers::Buffer& buffer, Time now) {
  const std::uint32_t source = peer.rank;
  Records records(rest, rest_size);
  while (records.next()) {
    switch (records.kind()) {
      case RecordKind::request:
      case RecordKind::reply: {
        const Channel channel = channel_of(records.kind());
        endpoint_.buffers.hold(channel, buffer);
        arrivals_[channel].push(
            {records.data(), static_cast<std::uint32_t>(records.size()), source, &buffer});
        break;
      }
      case RecordKind::request_part:
      case RecordKind::reply_part:
        handle_part(peer, channel_of(records.kind()), records.details<PartDetails>(),
                    records.data(), records.size());
        break;
      case RecordKind::put: {
        const auto details = records.details<PutDetails>();
        if (records.size() != 0)
          std::memcpy(memory_at(details.address), records.data(), records.size());
        break;
      }
      case RecordKind::get:
        answer(peer, records.details<GetDetails>(), now);
        break;
      case RecordKind::get_data:
        endpoint_.one_sided.handle_data(source, records.details<GetDataDetails>(), records.data(),
                                        records.size());
        break;
      case RecordKind::received:
      case RecordKind::probe:
      case RecordKind::probe_answer:
      case RecordKind::fragment:
        break;
    }
  }
}

void Receiver::handle_part(Peer& peer, Channel channel, const PartDetails& part,
                           const std::byte* data, std::size_t size) {
  auto partial =
      std::find_if(peer.partials.begin(), peer.partials.end(), [&](const Partial& known) {
        return known.number == part.number && known.channel == channel;
      });
  if (partial == peer.partials.end()) {
    ReceiveBuffers::Buffer* buffer = endpoint_.buffers.take();
    // Each channel has a share of the buffers, in which one is always left.
    if (buffer == nullptr)
      endpoint_.host.fatal("udp: no receive buffer is left for a message in parts");
    endpoint_.buffers.hold(channel, *buffer);
    peer.partials.push_back({part.number, channel, part.total, 0, buffer});
    partial = peer.partials.end() - 1;
  }
  if (partial->total != part.total) {
    ++endpoint_.counts.malformed;
    return;
  }
  std::memcpy(partial->buffer->message() + part.offset, data, size);
  partial->received += static_cast<std::uint32_t>(size);
  if (partial->received < partial->total) return;
  arrivals_[channel].push({partial->buffer->message(), partial->total, peer.rank, partial->buffer});
  *partial = peer.partials.back();
  peer.partials.pop_back();
}

void Receiver::handle_fragment(Peer& peer, const Header& header, const std::byte* rest,
                               std::size_t rest_size, Time now) {
  Records records(rest, rest_size);
  const bool has_record = records.next() && records.kind() == RecordKind::fragment;
  const auto details = has_record ? records.details<FragmentDetails>() : FragmentDetails{};
  const std::size_t size = records.size();
  const bool is_valid = has_record && size != 0 && details.total <= endpoint_.buffers.room() &&
                        details.offset % fragment_unit == 0 && details.offset < details.total &&
                        size <= details.total - details.offset &&
                        (size % fragment_unit == 0 || details.offset + size == details.total);
  // What has come whole meanwhile is not put together any more.
  std::erase_if(peer.assemblies, [&](const Assembly& one) {
    return peer.received.state_of(one.sequence) != ReceivedSequence::is_new;
  });
  auto found = std::ranges::find(peer.assemblies, header.sequence, &Assembly::sequence);
  if (!is_valid || (found != peer.assemblies.end() && found->bytes.size() != details.total)) {
    ++endpoint_.counts.malformed;
    return;
  }
  if (found == peer.assemblies.end()) {
    if (peer.assemblies.size() == max_assemblies) {
      // The first in turn must find room, so that there is progress.
      const auto last = std::ranges::max_element(peer.assemblies, {}, [&](const Assembly& one) {
        return one.sequence - peer.received.next_expected();
      });
      if (header.sequence - last->sequence < 1U << 31) return refuse(peer);
      peer.assemblies.erase(last);
    }
    Assembly& made = peer.assemblies.emplace_back();
    made.sequence = header.sequence;
    made.missing = static_cast<std::uint32_t>(quotient_up(details.total, fragment_unit));
    made.bytes.resize(details.total);
    found = peer.assemblies.end() - 1;
  }
  std::memcpy(found->bytes.data() + details.offset, records.data(), size);
  for (std::size_t unit = details.offset / fragment_unit;
       unit * fragment_unit < details.offset + size; ++unit) {
    if (found->arrived.test(unit)) continue;
    found->arrived.set(unit);
    --found->missing;
  }
  if (found->missing != 0) return;
  ReceiveBuffers::Buffer* const buffer = endpoint_.buffers.take();
  if (buffer == nullptr) return refuse(peer);
  std::memcpy(buffer->bytes(), found->bytes.data(), details.total);
  handle_records(peer, header, buffer->bytes(), details.total, *buffer, now);
  if (buffer->messages == 0) endpoint_.buffers.give_back(*buffer);
}

void Receiver::answer(Peer& peer, const GetDetails& details, Time now) {
  const std::byte* const memory = memory_at(details.address);
  if (is_copied(peer, details.size)) {
    const std::size_t bytes = endpoint_.packer.add_answer(peer, details, memory);
    if (bytes != 0) return endpoint_.sender.added(peer, bytes, now);
  }
  Stream* const answer = endpoint_.one_sided.begin_answer(peer.rank, details, memory);
  if (answer == nullptr)
    fatal(endpoint_.host, "udp: a get of rank %u was accepted and cannot be answered", peer.rank);
  endpoint_.sender.queue(peer, *answer);
}

}  // namespace gex::net::udp
