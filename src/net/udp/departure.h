#pragma once
// Decides whether a packet may leave, in one place for what is sent first and again, but for the
// repeat after a timeout (Sender::find_overdue).
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

/// A packet may leave, or the reason why not. Where requests are refused other packets may leave;
/// every other reason holds for all packets to the peer.
enum class Departure : std::uint8_t {
  allowed,
  requests_refused,   ///< the peer has no room for them
  pacing,             ///< the next step of a window that is spread over a round trip is not due
  congestion_window,  ///< as much is in flight as the way takes
  peer_window,        ///< as much is in flight as the peer has room for
  sequence_numbers,   ///< as many are unacknowledged as a receiver keeps apart
};

/// After so long a peer that takes no requests is asked again whether there is room: its own report
/// of that may be lost.
inline Time ask_again_interval(const Peer& peer) noexcept {
  constexpr Time longest = 400'000'000;
  return std::min(4 * peer.round_trip.timeout(), longest);
}

/// Decides for a packet whose charge to the receiver is `charge`; the caller sends it if the answer
/// is `allowed`. `is_new`: it has no sequence number yet. Notes what limits Congestion.
inline Departure departure_of(Peer& peer, Traffic traffic, bool is_new, std::size_t charge,
                              Time now) noexcept {
  const bool asks_again = traffic == Traffic::requests && peer.refuses_requests;
  // A new one asks only where none that was refused is there to be sent again.
  if (asks_again && (now < peer.ask_again_at || (is_new && !peer.unacknowledged.empty())))
    return Departure::requests_refused;
  if (const std::size_t in_flight = peer.unacknowledged.in_flight(); in_flight != 0) {
    if (!peer.pacing.may_send(in_flight)) return Departure::pacing;
    if (in_flight + charge > peer.congestion.window()) {
      peer.congestion.filled();
      return Departure::congestion_window;
    }
    if (in_flight + charge > peer.window) return Departure::peer_window;
    if (!peer.pacing.may_send(in_flight + charge)) return Departure::pacing;
  }
  if (is_new && !peer.unacknowledged.has_room()) {
    peer.congestion.filled();
    return Departure::sequence_numbers;
  }
  if (asks_again) peer.ask_again_at = now + ask_again_interval(peer);
  return Departure::allowed;
}

}  // namespace gex::net::udp
