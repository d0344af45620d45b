#pragma once
// Decides whether a packet may leave, in one place for what is sent first and again.
//
// What may be in flight is bounded by the peer's window, by Congestion and Pacing, and by the
// sequence numbers that a receiver keeps apart. With nothing in flight one packet always may, as
// its acknowledgement brings the window. A peer that has no room takes no requests, but for one now
// and then that asks again.

#include <algorithm>
#include <cstddef>

#include "net/udp/packet.h"
#include "net/udp/peer.h"

namespace gex::net::udp {

enum class Departure : std::uint8_t {
  now,
  no_requests,  ///< other packets may leave
  none,         ///< nor may any other
};

/// After so long a peer that takes no requests is asked again whether there is room: its own report
/// of that may be lost.
inline Time probe_interval(const Peer& peer) noexcept {
  constexpr Time longest = 400'000'000;
  return std::min(4 * peer.round_trip.timeout(), longest);
}

/// Decides for a packet whose charge to the receiver is `charge`; the caller sends it if the answer
/// is `now`. `is_new`: it has no sequence number yet. Notes what limits Congestion.
inline Departure departure_of(Peer& peer, Traffic traffic, bool is_new, std::size_t charge,
                              Time now) noexcept {
  const bool asks_again = traffic == Traffic::requests && peer.refuses_requests;
  // A new one asks only where none that was refused is there to be sent again.
  if (asks_again && (now < peer.probe_at || (is_new && !peer.unacknowledged.empty())))
    return Departure::no_requests;
  if (const std::size_t in_flight = peer.unacknowledged.in_flight(); in_flight != 0) {
    if (!peer.pacing.may_send(in_flight)) return Departure::none;
    if (in_flight + charge > peer.congestion.window()) {
      peer.congestion.filled();
      return Departure::none;
    }
    if (in_flight + charge > peer.window || !peer.pacing.may_send(in_flight + charge))
      return Departure::none;
  }
  if (is_new && !peer.unacknowledged.has_room()) {
    peer.congestion.filled();
    return Departure::none;
  }
  if (asks_again) peer.probe_at = now + probe_interval(peer);
  return Departure::now;
}

}  // namespace gex::net::udp
