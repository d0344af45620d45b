#pragma once
// Settings of all peers, from which an endpoint makes those with which it exchanges datagrams.

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/udp/endpoint_settings.h"

namespace gex::net::udp {

/// The least datagram for which messages to a peer are built where the way carries less than the
/// interface: if there is less still, they are sent in fragments. With much smaller packets there
/// would have to be many more.
std::size_t narrow_datagram(const PeerSettings& peer) noexcept;

/// Sizes, in bytes, for which buffers for all peers have room.
struct PeerBounds {
  std::size_t max_datagram = 0;  ///< bytes of the largest to any peer
  /// Bytes of the narrowest datagram for which messages to any peer are built.
  std::size_t least_datagram = ~std::size_t{0};

  void include(const PeerSettings& peer) noexcept;
  static PeerBounds of(std::span<const PeerSettings> peers) noexcept {
    PeerBounds bounds;
    for (const PeerSettings& peer : peers) bounds.include(peer);
    return bounds;
  }
};

/// Thread rules: any.
class PeerDirectory {
 public:
  virtual ~PeerDirectory() = default;

  /// This process among them.
  virtual std::size_t ranks() const noexcept = 0;
  virtual PeerBounds bounds() const noexcept = 0;
  /// All calls return equal settings for a rank.
  virtual PeerSettings settings_of(std::uint32_t rank) const = 0;
  /// Returns the session that the settings of `rank` have.
  virtual std::uint32_t session_of(std::uint32_t rank) const noexcept = 0;
};

}  // namespace gex::net::udp
