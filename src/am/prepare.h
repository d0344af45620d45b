#pragma once
// Negotiated payload: Prepare, Commit, Cancel.
//
// Prepare takes a buffer, never a cell, which is claimed at Commit:
//
//   the client's, if it gives one   used as it is
//   a small medium                  the thread's small buffer
//   a medium to a neighbor          a slab: built in place, read in place. Where none is free a
//                                   request waits for one, or with GEX_FLAG_IMMEDIATE is not
//                                   prepared; a reply takes the thread's large buffer
//   beyond the neighborhood         a buffer of the conduit's, from which it is sent without a
//                                   copy; where none is free the thread's large one
//   anything else                   the thread's large buffer, which is kept once it exists
//
// The message's route and endpoints are looked up by Prepare, and kept in the descriptor.

#include <gasnetex.h>

#include <cstddef>

#include "am/cell_layout.h"
#include "am/outbound.h"
#include "am/thread_messages.h"
#include "core/team.h"
#include "core/thread.h"

namespace gex::am {

struct PrepareArguments {
  const void* client_buffer;
  std::size_t most_payload;  ///< the descriptor has less where such a message carries less
  void* destination;         ///< long messages
  bool is_long;
  gex_Flags_t flags;
  unsigned arg_count;
};

/// Returns true if the payload of a medium is built in the small buffer of its descriptor: it then
/// fits in a cell or its slot.
constexpr bool fits_small_buffer(unsigned arg_count, std::size_t size) noexcept {
  return size <= small_payload_bytes - surplus_bytes(Category::medium, arg_count);
}
static_assert(small_payload_bytes == shm::slot_bytes);

/// Where a payload is built.
struct PayloadBuffer {
  void* address;
  std::size_t size;
  std::uint32_t slab = no_slab;    ///< it is this slab of ours
  bool in_conduit_buffer = false;  ///< it is the conduit's (begin_building)
};

/// Opens a closed descriptor. `state`: open or express; the latter is for a medium request with its
/// payload in the small buffer.
inline void open(_gex_AM_SrcDesc& descriptor, _gex_AM_SrcDesc::State state, bool is_reply,
                 Route route, Endpoints endpoints, const PrepareArguments& arguments,
                 const PayloadBuffer& buffer) noexcept {
  descriptor.state = state;
  descriptor.is_reply = is_reply;
  descriptor.is_long = arguments.is_long;
  descriptor.has_client_buffer = arguments.client_buffer != nullptr;
  descriptor.in_conduit_buffer = buffer.in_conduit_buffer;
  descriptor.arg_count = static_cast<std::uint8_t>(arguments.arg_count);
  descriptor.endpoints = endpoints;
  descriptor.flags = arguments.flags;
  descriptor.slab = buffer.slab;
  descriptor.route = route;
  descriptor.destination = arguments.destination;
  descriptor.address = buffer.address;
  descriptor.size = buffer.size;
}

/// Null only with GEX_FLAG_IMMEDIATE.
gex_AM_SrcDesc_t prepare_request(Route route, Endpoints endpoints,
                                 const PrepareArguments& arguments) noexcept;
inline gex_AM_SrcDesc_t prepare_request(const Target& target,
                                        const PrepareArguments& arguments) noexcept {
  return prepare_request(route_to(target.jobrank), endpoints_of(target), arguments);
}
gex_AM_SrcDesc_t prepare_reply(gex_Token_t token, const PrepareArguments& arguments) noexcept;

/// The target of the message of an open descriptor.
inline Target target_of(const _gex_AM_SrcDesc& descriptor) noexcept {
  const Endpoints endpoints = descriptor.endpoints;
  return {endpoint_at(endpoints.source_address()), descriptor.route.jobrank,
          static_cast<gex_EP_Index_t>(endpoints.target())};
}

/// Gives a message what Prepare has found: its direction, endpoints and payload.
inline void complete_prepared(const _gex_AM_SrcDesc& descriptor, Outbound& message) noexcept {
  if (descriptor.is_reply) message.what.set_reply();
  message.what.set_endpoints(descriptor.endpoints);
  message.payload = descriptor.address;
}

/// Completes `message` (complete_prepared) and sends it. Non-zero only with GEX_FLAG_IMMEDIATE; the
/// descriptor then stays open.
int commit(gex_AM_SrcDesc_t descriptor, Outbound& message, gex_Flags_t flags) noexcept;

/// Ends the job if the request that an open descriptor replies to has been replied to without it.
void require_unanswered(const _gex_AM_SrcDesc& descriptor) noexcept;

void cancel(gex_AM_SrcDesc_t descriptor) noexcept;

}  // namespace gex::am
