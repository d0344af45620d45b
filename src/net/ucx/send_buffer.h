#pragma once
// A buffer that a message is sent from (net/kit/send_pool.h).

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>

#include "net/kit/channel_buffers.h"
#include "net/kit/send_pool.h"
#include "net/ucx/wire.h"

namespace gex::net::ucx {

class Network;

/// Stands in front of a buffer's bytes.
struct alignas(64) SendBuffer {
  static constexpr MessageRoom room{0, header_room, payload_room};

  Network* network;
  std::uint32_t peer;
  Kind kind;
  Stamp stamp;       ///< UCX reads it until the message is sent
  std::byte* start;  ///< of the message

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// Where a payload is built in place; its header is later put in front of it.
  std::byte* payload() noexcept { return bytes() + header_room; }
};
static_assert(header_room % message_alignment == 0);

using SendPool = net::SendPool<SendBuffer>;

/// Bytes behind a buffer's head, a multiple of its alignment.
inline constexpr std::size_t buffer_room =
    (max_message + alignof(SendBuffer) - 1) / alignof(SendBuffer) * alignof(SendBuffer);

}  // namespace gex::net::ucx
