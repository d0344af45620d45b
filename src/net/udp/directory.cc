#include "net/udp/directory.h"

#include <algorithm>

#include "net/udp/wire.h"

namespace gex::net::udp {

std::size_t narrow_datagram(const PeerSettings& peer) noexcept {
  if (peer.path.least == 0) return peer.datagram;
  return std::min(peer.datagram, std::max<std::size_t>(peer.path.start, peer.datagram / 2));
}

void PeerBounds::include(const PeerSettings& peer) noexcept {
  max_datagram = std::max(max_datagram, peer.datagram);
  const std::size_t narrow = narrow_datagram(peer);
  if (narrow > front_size) least_datagram = std::min(least_datagram, narrow);
}

}  // namespace gex::net::udp
