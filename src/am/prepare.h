#pragma once
// Negotiated payload: Prepare, Commit, Cancel.
//
// Prepare takes a buffer, never a cell: for a small payload the thread's own, for a larger one to a
// neighbor a slab (built in place, read in place), to a process beyond the neighborhood a buffer of
// the conduit's, from which it is sent without a copy, for anything else and where none is free a
// buffer of the thread that is kept once it exists. The cell is claimed at Commit. The message's
// route and endpoints are looked up by Prepare, and kept in the descriptor.

#include <gasnetex.h>

#include <cstddef>

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

/// Opens a closed descriptor for a medium request whose payload is built in its small buffer, and
/// that leaves by the express way if it can.
inline void open_express(_gex_AM_SrcDesc& descriptor, Route route, Endpoints endpoints,
                         std::size_t size, gex_Flags_t flags, unsigned arg_count) noexcept {
  descriptor.state = _gex_AM_SrcDesc::State::express;
  descriptor.is_reply = false;
  descriptor.is_long = false;
  descriptor.has_client_buffer = false;
  descriptor.built = false;
  descriptor.arg_count = static_cast<std::uint8_t>(arg_count);
  descriptor.endpoints = endpoints;
  descriptor.flags = flags;
  descriptor.slab = no_slab;
  descriptor.route = route;
  descriptor.destination = nullptr;
  descriptor.address = descriptor.small_buffer;
  descriptor.size = size;
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

/// Sends `message`, which has everything but its peer and payload. Non-zero only with
/// GEX_FLAG_IMMEDIATE; the descriptor then stays open.
int commit(gex_AM_SrcDesc_t descriptor, Outbound& message, gex_Flags_t flags) noexcept;

/// Ends the job if the request that an open descriptor replies to has been replied to without it.
void require_unanswered(const _gex_AM_SrcDesc& descriptor) noexcept;

void cancel(gex_AM_SrcDesc_t descriptor) noexcept;

}  // namespace gex::am
