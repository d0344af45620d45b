#pragma once
// The messages of this conduit on the wire: active messages of UCP's with one number, whose header
// is a stamp and whose payload is the message.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "net/kit/stamp.h"

namespace gex::net::ucx {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 240;
inline constexpr std::size_t max_message = payload_room + header_room;

/// The number of all messages.
inline constexpr unsigned am_id = 1;

enum class Kind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  handshake = 2,  ///< empty; the first message from a neighbor
};
constexpr bool is_for_am(Kind kind) noexcept {
  return kind == Kind::request || kind == Kind::reply;
}

using Stamp = net::Stamp<Kind>;

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
inline std::optional<Stamp> read_stamp(const Host& host, const void* header,
                                       std::size_t header_size, std::size_t size) noexcept {
  Stamp stamp;
  if (header_size != sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, header, sizeof stamp);
  if (stamp.cookie != host.cookie || stamp.source >= host.size || stamp.source == host.rank ||
      stamp.kind() > Kind::handshake || stamp.size() != size || size > max_message)
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net::ucx
