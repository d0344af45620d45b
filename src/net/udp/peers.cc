#include "net/udp/peers.h"

#include <algorithm>

namespace gex::net::udp {

Peer& Peers::make(std::uint32_t rank) {
  const PeerSettings from = endpoint_.directory.settings_of(rank);
  const std::size_t room = endpoint_.packet_room;
  Peer& peer = *made_.emplace_back(std::make_unique<Peer>());
  by_rank_[rank] = &peer;
  peer.rank = rank;
  peer.address = from.address;
  const std::uint32_t own = endpoint_.rank;
  peer.key_to = endpoint_.seal.key_of({own, endpoint_.settings.session, rank, from.session});
  peer.key_from = endpoint_.seal.key_of({rank, from.session, own, endpoint_.settings.session});
  peer.max_datagram = static_cast<std::uint32_t>(std::min(room, from.datagram & ~std::size_t{15}));
  peer.least_datagram =
      static_cast<std::uint32_t>(std::min(room, narrow_datagram(from) & ~std::size_t{15}));
  peer.path_bytes = static_cast<std::uint32_t>(from.datagram);
  if (from.path.least != 0) {
    peer.search = PathSearch(from.path);
    peer.path_bytes = from.path.start;
  }
  peer.use_path();
  peer.window = peer.first_window = from.first_window;
  peer.congestion = Congestion(from.congestion);
  if (from.is_paced) peer.pacing = Pacing(from.congestion.least / 2);
  peer.round_trip = RoundTrip(endpoint_.settings.shortest_timeout);
  return peer;
}

}  // namespace gex::net::udp
