#pragma once
// An active message on its way out, its route, and the two ways to send it: as a request or a
// reply.
//
// A route is looked up once for each message, by its call or by Prepare; a request that is deferred
// has another, in the lane of the thread that sends it. Its end is chosen in one place,
// send.cc: a neighbor is reached through its ring (to_neighbor.h), this process by a call
// (to_self.h), any other through the conduit (network.h). What fits in a cell has an express way
// before that, express.h.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/message.h"
#include "core/op.h"
#include "core/published.h"
#include "core/team.h"

namespace gex::am {

struct Outbound {
  MessageWhat what;
  /// The payload of a long message is at its destination already, as it must be for some
  /// (rma/long_message.h).
  bool placed = false;
  /// The payload, be it empty, lies in a buffer of the conduit's (begin_building); a request has
  /// its credit with that.
  bool in_conduit_buffer = false;
  /// The payload lies in memory of the library's that is not written until the message is sent.
  bool payload_is_ours = false;
  std::uint32_t number = 0;            ///< of a message to this process; traced jobs only
  const gex_AM_Arg_t* args = nullptr;  ///< padded to whole 16-byte chunks, aligned to 16
  const void* payload = nullptr;
  std::size_t size = 0;
  void* destination = nullptr;  ///< of a long message, in its owner's addresses
  /// The bound segment of that, looked up once; not once the payload is placed.
  const PublishedSegment* segment = nullptr;
  std::uint32_t slab = no_slab;  ///< the payload is already in this slab of ours

  std::uint32_t size_and_slab() const noexcept {
    return MessageHeader::make_size_and_slab(
        what.category() == Category::medium ? static_cast<std::uint32_t>(size) : 0, slab);
  }
};

struct Link;

/// The route of a message to a process.
struct Route {
  gex_Rank_t jobrank;
  Link* link;  ///< to a neighbor; null: this process, or one beyond the neighborhood
};
Route route_to(gex_Rank_t jobrank) noexcept;
/// The route of the reply to a message.
Route route_back(const _gex_Token& token) noexcept;

/// Sends a request by its route. Waits for room, polling, unless `immediate`; then returns non-zero
/// if there was none and nothing was sent. Client context only.
int send_request(Route route, const Outbound& message, bool immediate) noexcept;
/// Sends the reply to a request by its route, that request's `route_back`. Never waits for the
/// requester.
void send_reply_by_route(Route route, const Outbound& message) noexcept;
/// As above, in the handler of the request: it then has its reply.
void send_reply(gex_Token_t token, Route route, const Outbound& message) noexcept;

// For those who have no other use for the route.
int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept;
/// Makes `message` the reply to that request, too: its direction and endpoints need not be set.
void reply_to(gex_Token_t token, Outbound& message) noexcept;

/// Describes what a message that finds no room waits for.
Op op_of(gex_Rank_t jobrank, const Outbound& message) noexcept;

/// The two addresses of a message between endpoints of one client.
Endpoints endpoints_of(gex_EP_t source, gex_EP_Index_t target) noexcept;
inline Endpoints endpoints_of(const Target& target) noexcept {
  return endpoints_of(target.local_endpoint, target.endpoint);
}

}  // namespace gex::am
