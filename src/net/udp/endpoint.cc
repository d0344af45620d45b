#include "net/udp/endpoint.h"

#include <algorithm>
#include <string>

#include "net/kit/fatal.h"

namespace gex::net::udp {

namespace {

/// Bytes of the largest datagram of messages to any peer.
std::size_t slab_room(std::span<const PeerSettings> peers, const EndpointSettings& settings) {
  std::size_t largest = front_size + 64;
  for (const PeerSettings& peer : peers)
    largest = std::max(largest, peer.datagram & ~std::size_t{15});
  return std::min(largest, sizeof(Header) + record_size(settings.max_message));
}

/// The least for which messages are built where the way carries less than the interface: if there
/// is less still, they are sent in fragments. With much smaller packets there would have to be many
/// more.
std::size_t narrow_datagram(const PeerSettings& peer) {
  if (peer.path.least == 0) return peer.datagram;
  return std::min(peer.datagram, std::max<std::size_t>(peer.path.start, peer.datagram / 2));
}

/// Packets that the largest message takes to any peer.
std::size_t packets_of_message(std::span<const PeerSettings> peers, std::uint32_t own,
                               const EndpointSettings& settings) {
  std::size_t most = 1;
  for (std::uint32_t rank = 0; rank < peers.size(); ++rank) {
    const std::size_t least = narrow_datagram(peers[rank]);
    if (rank == own || least <= front_size) continue;
    const std::size_t room = (least & ~std::size_t{15}) - front_size;
    most = std::max(most, (settings.max_message + room - 1) / room);
  }
  return most;
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
  constexpr auto requests = static_cast<std::size_t>(Traffic::requests);
  constexpr auto replies = static_cast<std::size_t>(Traffic::replies);
  constexpr auto one_sided = static_cast<std::size_t>(Traffic::one_sided);
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
constexpr std::uint32_t max_stream_packets = 4096;

std::size_t receive_room(const Socket& socket, const EndpointSettings& settings,
                         std::span<const PeerSettings> peers) {
  const SocketLimits& limits = socket.limits();
  std::size_t room = limits.joins ? limits.max_joined : 0;
  for (const PeerSettings& peer : peers) room = std::max(room, peer.datagram);
  return std::max(room, settings.max_message) + 64;
}

std::size_t receive_count(std::size_t room, std::size_t memory, std::size_t reserve) {
  return std::max(memory / room, 2 * reserve + 8);
}

/// A window that is worth a sender's turn on its processor. All of many senders together may have
/// more than there is room for then: some is lost and comes again.
std::size_t least_window(const Socket& socket, std::span<const PeerSettings> peers) {
  std::size_t datagram = 0;
  for (const PeerSettings& peer : peers) datagram = std::max(datagram, peer.datagram);
  return 2 * socket.charge(std::min<std::size_t>(datagram, least_datagrams));
}

}  // namespace

Endpoint::Endpoint(const Host& host, Socket& socket, const Seal& seal, Segments& segments,
                   const EndpointSettings& settings, std::span<const PeerSettings> peers)
    : host_(host),
      socket_(socket),
      segments_(segments),
      settings_(settings),
      seal_(seal),
      threaded_(host.threaded != 0),
      peers_(peers.size()),
      max_parts_(static_cast<std::uint32_t>(packets_of_message(peers, host.rank, settings))),
      slabs_(max_parts_ * (3 * total_depth_of(settings, peers.size())) + peers.size() +
                 one_sided_packets,
             slab_room(peers, settings), slab_limits(settings, peers.size(), max_parts_)),
      stream_packets_(max_stream_packets, front_size, false),
      one_sided_(host, peers.size()),
      burst_(socket, seal, settings.covers_bulk),
      buffers_(
          receive_count(receive_room(socket, settings, peers), settings.receive_memory, reserve),
          receive_room(socket, settings, peers), reserve),
      room_(socket.limits().receive_buffer, least_window(socket, peers), peers.size()) {
  const std::size_t room = slab_room(peers, settings);
  for (std::uint32_t rank = 0; rank < peers.size(); ++rank) {
    Peer& peer = peers_[rank];
    const PeerSettings& from = peers[rank];
    peer.address = from.address;
    peer.key_to = seal.key_of({host.rank, settings.session, rank, from.session});
    peer.key_from = seal.key_of({rank, from.session, host.rank, settings.session});
    peer.max_datagram =
        static_cast<std::uint32_t>(std::min(room, from.datagram & ~std::size_t{15}));
    peer.least_datagram =
        static_cast<std::uint32_t>(std::min(room, narrow_datagram(from) & ~std::size_t{15}));
    peer.path = static_cast<std::uint32_t>(from.datagram);
    if (from.path.least != 0) {
      peer.search = PathSearch(from.path);
      peer.path = from.path.start;
    }
    use_path(peer);
    peer.window = peer.first_window = from.first_window;
    peer.congestion = Congestion(from.congestion);
    if (from.is_paced) peer.pacing = Pacing(from.congestion.least / 2);
    peer.round_trip = RoundTrip(settings.shortest_timeout);
  }
}

bool Endpoint::has_memory() const noexcept {
  return slabs_.has_memory() && stream_packets_.has_memory() && buffers_.has_memory();
}

bool Endpoint::is_quiet() const noexcept {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.is_gone || (peer.unacknowledged.empty() && !peer.has_queued());
  });
}

void Endpoint::send_farewells(Time now) {
  advance_clock(now);
  for (Peer& peer : peers_) {
    if (rank_of(peer) == host_.rank || peer.is_gone) continue;
    const bool spoke = peer.unacknowledged.next_sequence() != 0 ||
                       peer.received.next_expected() != 0 || peer.received.ahead() != 0;
    if (!spoke) continue;
    burst_.add(peer, header_for(peer, leaving), nullptr, 0);
  }
  hand_over();
}

void Endpoint::look_for_silence(Peer& peer, Time now) {
  if (peer.highest_ack != 0 || has_warned_) return;
  if (peer.unheard_since == 0) peer.unheard_since = now;
  if (now - peer.unheard_since < silence ||
      peer.round_trip.timeouts_in_a_row() < repetitions_in_silence)
    return;
  has_warned_ = true;
  if (host_.warn == nullptr) return;
  host_.warn(("udp: nothing has come back from rank " + std::to_string(rank_of(peer)) + " (" +
              peer.address.host_text() + ", port " + std::to_string(peer.address.port()) + ") in " +
              std::to_string(silence / 1'000'000'000) +
              " s; unless it has not polled since the job began, UDP does not get through: a "
              "firewall has to let it pass between the hosts, on the ports of GEX_UDP_PORTS "
              "(docs/udp.md)")
                 .c_str());
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
  if (slabs_.in_flight() != 0 || stream_packets_.taken() != 0)
    fatal(host_, "udp: %zu packets are left on rank %u",
          slabs_.in_flight() + stream_packets_.taken(), host_.rank);
}

}  // namespace gex::net::udp
