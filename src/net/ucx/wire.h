#pragma once
// The messages of this conduit on the wire: active messages of UCP's with one number, whose header
// is a stamp and whose payload is the message.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "net/kit/stamp.h"

namespace gex::net::ucx {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 240;
inline constexpr std::size_t max_message = payload_room + header_room;

/// The numbers of active messages: of libgex's messages, and of parts of puts and their
/// acknowledgements (message_puts.h).
inline constexpr unsigned am_id = 1;
inline constexpr unsigned put_am_id = 2;
inline constexpr unsigned put_answer_am_id = 3;

enum class Kind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  handshake = 2,  ///< empty; the first message from a neighbor
  put = 3,
  put_answer = 4,
  lane_offer = 5,  ///< a lane's number, 32 bits, and the address of its worker
};
constexpr bool is_for_am(Kind kind) noexcept {
  return kind == Kind::request || kind == Kind::reply;
}

using Stamp = net::Stamp<Kind>;

/// In front of a part of a put.
struct PutHeader {
  Stamp stamp;
  std::uint64_t address;  ///< at the receiver
  std::uint64_t segment;  ///< its number (segments.h)
  std::uint64_t part;     ///< which the acknowledgement repeats
};

/// The most bytes of a put in one message: with its headers it fits into what UCX's TCP receives at
/// once (UCX_TCP_RX_SEG_SIZE); UCX would copy the parts of a larger one together.
inline constexpr std::size_t max_put_part = 60 * 1024;

/// A lane_offer, at its receiver.
struct LaneOffer {
  std::uint32_t source;
  std::uint32_t lane;
  std::vector<std::byte> address;
};

/// The parts, 32-bit numbers, that one acknowledgement names at most.
inline constexpr std::size_t max_answered_parts = 64;

/// Whether a peer of this job can have sent this, a message of `size` bytes.
inline bool is_from_peer(const Host& host, const Stamp& stamp, std::size_t size) noexcept {
  return stamp.cookie == host.cookie && stamp.source < host.size && stamp.source != host.rank &&
         stamp.size() == size;
}

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
inline std::optional<Stamp> read_stamp(const Host& host, const void* header,
                                       std::size_t header_size, std::size_t size) noexcept {
  Stamp stamp;
  if (header_size != sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, header, sizeof stamp);
  if (!is_from_peer(host, stamp, size) || size > max_message || stamp.kind() == Kind::put ||
      stamp.kind() == Kind::put_answer || stamp.kind() > Kind::lane_offer)
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net::ucx
