#pragma once
// The settings of an endpoint.

#include <cstddef>
#include <cstdint>

#include "net/address.h"
#include "net/udp/congestion.h"
#include "net/udp/packet.h"
#include "net/udp/path_search.h"

namespace gex::net::udp {

/// Settings for all peers.
struct EndpointSettings {
  std::uint32_t session = 0;  ///< this process's
  /// True if data of puts and gets are authenticated that fill a datagram by themselves. The same
  /// on all ranks.
  bool covers_bulk = true;
  std::size_t max_message = 0;    ///< bytes
  std::uint32_t depth = 0;        ///< messages of a channel held for a peer: `Limits::reply_depth`
  std::uint32_t total_depth = 0;  ///< for all peers, or 0
  std::size_t receive_memory = std::size_t{64} << 20;
  /// Records that are added in a row, with others in flight, are gathered until there are as many
  /// bytes as are in flight, but at least `bundle` and at most `batch`, or until the next poll: see
  /// Sender::added.
  std::size_t bundle = 2048;
  std::size_t batch = 48000;
  Time shortest_timeout = 200'000;
};

/// Settings of one peer, which the ranks exchange.
struct PeerSettings {
  Address address;
  std::uint32_t session = 0;
  std::size_t datagram = 0;      ///< bytes of the largest to there
  PathLimits path{};             ///< where it is to be found out how much of that the way carries
  std::size_t first_window = 0;  ///< until it has reported its own
  Congestion::Settings congestion{};
  bool is_paced = false;  ///< the network may have a short queue

  bool operator==(const PeerSettings&) const = default;
};

}  // namespace gex::net::udp
