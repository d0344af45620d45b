#include "net/udp/endpoint.h"

#include <algorithm>
#include <utility>

#include "net/kit/fatal.h"
#include "net/kit/pieces.h"

namespace gex::net::udp {

namespace {

std::size_t receive_room(const Socket& socket, const EndpointSettings& settings,
                         const PeerBounds& bounds) {
  const SocketLimits& limits = socket.limits();
  return std::max(
             {limits.joins ? limits.max_joined : 0, bounds.max_datagram, settings.max_message}) +
         64;
}

std::size_t receive_count(std::size_t room, std::size_t memory) {
  return std::max(memory / room, 2 * Receiver::reserve + 8);
}

}  // namespace

Endpoint::Endpoint(const Host& host, Socket& socket, const Seal& seal, Segments& segments,
                   const EndpointSettings& settings, const PeerDirectory& directory)
    : host_(host),
      settings_(settings),
      threaded_(host.threaded != 0),
      buffers_(receive_count(receive_room(socket, settings, directory.bounds()),
                             settings.receive_memory),
               receive_room(socket, settings, directory.bounds()), Receiver::reserve),
      room_(socket.limits().receive_buffer, least_window(socket, directory.bounds().max_datagram),
            directory.ranks()),
      burst_(socket, seal, settings.covers_bulk),
      one_sided_(host, directory.ranks()),
      packer_(directory.bounds(), directory.ranks(), settings),
      peers_({.rank = host.rank,
              .settings = settings_,
              .directory = directory,
              .seal = seal,
              .packet_room = packer_.room()}),
      acknowledgements_(host.rank, buffers_, room_, burst_),
      paths_(socket, burst_, acknowledgements_),
      sender_({.host = host,
               .socket = socket,
               .settings = settings_,
               .attendance = attendance_,
               .burst = burst_,
               .packer = packer_,
               .one_sided = one_sided_,
               .acknowledgements = acknowledgements_,
               .paths = paths_,
               .counts = counts_}),
      receiver_({.host = host,
                 .socket = socket,
                 .segments = segments,
                 .seal = seal,
                 .settings = settings_,
                 .attendance = attendance_,
                 .directory = directory,
                 .peers = peers_,
                 .buffers = buffers_,
                 .room = room_,
                 .one_sided = one_sided_,
                 .acknowledgements = acknowledgements_,
                 .paths = paths_,
                 .packer = packer_,
                 .sender = sender_,
                 .counts = counts_}) {
}

bool Endpoint::has_memory() const noexcept {
  return packer_.has_memory() && sender_.has_memory() && buffers_.has_memory();
}

SendResult Endpoint::send(Channel channel, std::uint32_t rank, std::span<const Piece> pieces,
                          Time now) {
  const std::size_t size = size_of(pieces);
  if (size > settings_.max_message || rank >= peers_.ranks() || rank == host_.rank) [[unlikely]]
    fatal(host_, "udp: a message of %zu bytes to rank %u; the limit is %zu", size, rank,
          settings_.max_message);
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peer_of(rank);
  const std::size_t bytes = packer_.add_message(channel, peer, pieces, size);
  if (bytes != 0) sender_.added(peer, bytes, now);
  sender_.hand_over();
  return bytes != 0 ? sent : would_block;
}

void* Endpoint::buffer(Channel channel, std::uint32_t rank, std::size_t size) {
  if (rank >= peers_.ranks() || rank == host_.rank) return nullptr;
  const OptionalGuard guard(lock_, threaded_);
  return packer_.build(channel, peer_of(rank), size);
}

void Endpoint::release(void* payload) {
  const OptionalGuard guard(lock_, threaded_);
  Packet* const packet = packer_.built_at(payload);
  if (packet == nullptr)
    fatal(host_, "udp: release of %p, which is not a buffer of rank %u", payload, host_.rank);
  packer_.cancel_building(peer_of(packet->built_for), *packet);
}

SendResult Endpoint::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done, Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peer_of(remote.peer);
  Stream* const put = one_sided_.begin_put(remote, local, size, done, local_done);
  if (put == nullptr) return would_block;
  if (is_copied(peer, size)) {
    const std::size_t bytes = packer_.add_put(peer, *put);
    if (bytes == 0) {
      one_sided_.cancel_put(*put);
      return would_block;
    }
    one_sided_.complete_locally(*put);
    sender_.added(peer, bytes, now);
  } else {
    sender_.queue(peer, *put);
    sender_.transmit(peer, now);
  }
  sender_.hand_over();
  return sent;
}

SendResult Endpoint::get(const Remote& remote, void* local, std::size_t size, void* done,
                         Time now) {
  const OptionalGuard guard(lock_, threaded_);
  now = advance_clock(now);
  Peer& peer = peer_of(remote.peer);
  if (!one_sided_.may_get()) return would_block;
  const GetDetails get = one_sided_.begin_get(remote, local, size, done);
  const std::size_t bytes = packer_.add_get(peer, get);
  if (bytes == 0) {
    one_sided_.cancel_get(get);
    return would_block;
  }
  sender_.added(peer, bytes, now);
  sender_.hand_over();
  return sent;
}

SendResult Endpoint::flush(std::uint32_t rank, void* done) {
  const OptionalGuard guard(lock_, threaded_);
  return one_sided_.flush(rank, done) ? sent : would_block;
}

void Endpoint::forget(const Segments::Range& memory) {
  const OptionalGuard guard(lock_, threaded_);
  sender_.forget(peers_, memory);
}

std::size_t Endpoint::deliver(std::uint32_t channels, std::size_t max) {
  std::size_t delivered = 0;
  // What arrives while messages are delivered is for the next poll.
  std::size_t waiting[2] = {receiver_.arrivals(request_channel).count(),
                            receiver_.arrivals(reply_channel).count()};
  // Replies first: they give room and credits back, and their handlers are short.
  for (const Channel channel : {reply_channel, request_channel}) {
    if ((channels >> channel & 1) == 0) continue;
    ArrivalQueue& arrivals = receiver_.arrivals(channel);
    // A nested poll may have taken some of them.
    for (; waiting[channel] != 0 && delivered < max && arrivals.count() != 0; --waiting[channel]) {
      // A request is answered with a reply for which there must be packets. There always are but
      // for replies whose acknowledgements were lost: these come again.
      if (channel == request_channel &&
          !packer_.has_room_for_reply(peer_of(arrivals.front().source))) [[unlikely]] {
        lacks_packets_ = true;
        break;
      }
      const Arrival arrival = arrivals.pop();
      if (!burst_.empty()) sender_.hand_over();
      unlock();
      host_.deliver(arrival.source, channel, arrival.message, arrival.size);
      lock();
      receiver_.release(arrival);
      ++delivered;
    }
  }
  return delivered;
}

std::size_t Endpoint::poll(std::uint32_t channels, std::size_t max, Time now) {
  if (threaded_ && !lock_.try_lock()) return 0;
  now = advance_clock(now);
  room_.update(now);
  // What had arrived by then is not all received at once.
  attendance_.polled(now, /*all_received=*/!receiver_.was_full());
  std::size_t waiting = 0;
  for (const Channel channel : {request_channel, reply_channel})
    waiting += (channels >> channel & 1) != 0 ? receiver_.arrivals(channel).count() : 0;
  std::size_t came = 0;
  if (waiting == 0 || waiting < max / 2 || std::exchange(lacks_packets_, false))
    came = receiver_.receive(now);
  const std::size_t delivered = deliver(channels, max);
  acknowledgements_.resume_requests(peers_);
  sender_.send_queued(now);
  acknowledgements_.send_owed(/*idle=*/came == 0 && delivered == 0);
  sender_.look_at_timers(now);
  sender_.hand_over();
  // Relaxed: hints.
  if (came != 0) received_.store(counts_.received, std::memory_order_relaxed);
  has_unacknowledged_.store(sender_.has_unacknowledged(), std::memory_order_relaxed);
  unlock();
  return delivered;
}

bool Endpoint::may_wait(Time now, Time& until) {
  if (threaded_ && !lock_.try_lock()) {
    until = std::min(until, now + short_wait);
    return true;
  }
  now = advance_clock(now);
  // An acknowledgement leaves with a poll that finds nothing.
  bool may = std::exchange(received_at_wait_, counts_.received) == counts_.received &&
             !acknowledgements_.has_owed();
  if (receiver_.arrivals(request_channel).count() != 0 ||
      receiver_.arrivals(reply_channel).count() != 0) {
    may = may && lacks_packets_;
    until = std::min(until, now + short_wait);
  }
  until = std::min(until, sender_.next_at(now));
  may = may && until > now;
  if (may) attendance_.watch(until);
  unlock();
  return may;
}

bool Endpoint::is_quiet() const noexcept {
  return std::ranges::all_of(peers_.made(), [](const auto& peer) {
    return peer->unacknowledged.empty() && !peer->has_queued();
  });
}

void Endpoint::send_farewells(Time now) {
  advance_clock(now);
  for (const auto& made : peers_.made()) {
    Peer& peer = *made;
    if (peer.rank == host_.rank || peer.is_gone) continue;
    const bool spoke = peer.unacknowledged.next_sequence() != 0 ||
                       peer.received.next_expected() != 0 || peer.received.ahead() != 0;
    if (!spoke) continue;
    burst_.add(peer, acknowledgements_.header_for(peer, leaving), nullptr, 0);
  }
  sender_.hand_over();
}

EndpointCounts Endpoint::counts() const noexcept {
  EndpointCounts counts = counts_;
  counts.sent = burst_.datagrams();
  return counts;
}

EndpointCounts Endpoint::counts_now() noexcept {
  const bool is_locked = threaded_ && lock_.try_lock();
  const EndpointCounts now = counts();
  if (is_locked) lock_.unlock();
  return now;
}

void Endpoint::check_invariants() const {
  if (!is_quiet()) return;
  if (one_sided_.puts() != 0 || one_sided_.answers() != 0)
    fatal(host_, "udp: %zu puts and %zu answers to gets are left on rank %u", one_sided_.puts(),
          one_sided_.answers(), host_.rank);
  const std::size_t packets = packer_.in_flight() + sender_.stream_packets();
  if (packets != 0) fatal(host_, "udp: %zu packets are left on rank %u", packets, host_.rank);
}

}  // namespace gex::net::udp
