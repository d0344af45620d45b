#pragma once
// The messages of this conduit on the wire: behind a stamp (net/kit/stamp.h).

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/kit/loss_detector.h"
#include "net/kit/stamp.h"

namespace gex::net::ofi {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 240;
inline constexpr std::size_t max_message = payload_room + header_room;

enum class Kind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  farewell = 2,    ///< empty; the last that its sender sends
  tally = 3,       ///< see loss_detector.h
  handshake = 4,   ///< empty; the first over a connection, see Network::connect
  lane_offer = 5,  ///< see LaneOffer
};
constexpr bool is_for_am(Kind kind) noexcept {
  return kind == Kind::request || kind == Kind::reply;
}

using Stamp = net::Stamp<Kind>;

/// The most bytes of an endpoint's name.
inline constexpr std::size_t max_name = 128;

/// Offers a peer a further endpoint, of the lane with this number, or answers such an offer: that
/// the sender has no such lane, now.
struct LaneOffer {
  std::uint32_t lane;
  std::uint32_t has_endpoint;
  std::uint64_t unused;
  std::byte name[max_name];  ///< with a zero behind it, if it is text
};
static_assert(sizeof(LaneOffer) % message_alignment == 0);

/// Bytes of the largest message on the wire.
inline constexpr std::size_t max_wire = sizeof(Stamp) + filled_up(max_message);

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
inline std::optional<Stamp> read_stamp(const Host& host, const void* data,
                                       std::size_t size) noexcept {
  const std::optional<Stamp> stamp =
      net::read_stamp(host, data, size, max_message, Kind::lane_offer);
  if (stamp && stamp->kind() == Kind::tally && stamp->size() != sizeof(Tally)) return std::nullopt;
  if (stamp && stamp->kind() == Kind::lane_offer && stamp->size() != sizeof(LaneOffer))
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net::ofi
