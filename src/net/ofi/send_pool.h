#pragma once
// The buffers that messages are sent from (net/kit/send_pool.h), registered some at a time where
// that is needed.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/kit/channel_buffers.h"
#include "net/kit/send_pool.h"
#include "net/ofi/operation.h"
#include "net/ofi/registration.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

/// Stands in front of a buffer's bytes.
struct alignas(64) SendBuffer : OperationContext {
  static constexpr MessageRoom room{sizeof(Stamp), header_room, payload_room};

  Kind kind;
  std::uint32_t peer;
  fi_addr_t route;   ///< the endpoint of the peer's that it goes to
  std::byte* start;  ///< where the message begins on the wire
  std::size_t size;  ///< on the wire
  void* descriptor;  ///< of its registration, for libfabric

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// Where a payload is built in place; header and stamp are later put in front of it.
  std::byte* payload() noexcept { return bytes() + sizeof(Stamp) + header_room; }
};

class SendPool final : public net::SendPool<SendBuffer> {
 public:
  /// Where memory must be registered, some is at once; ends the job if it cannot be.
  SendPool(const Host& host, std::size_t count, Registrar& registrar, bool threaded);

 private:
  bool prepare(std::span<std::byte> memory, SendBuffer& prototype);

  const Host& host_;
  Registrar& registrar_;
  std::vector<Region> regions_;
};

}  // namespace gex::net::ofi
