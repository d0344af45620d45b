#pragma once
// Long messages, from a client's payload or a prepared one. Callers look a message's route and the
// segment of its destination up, once for each: both decide what is done here.
//
// The payload goes with the message where it can. It cannot to a neighbor whose segment is not
// mapped here, which is memory of the client's, and over a network in a request with more than a
// message carries: then it goes ahead as a put, and the message follows when the put has been
// acknowledged. A request waits for that, polling. A reply may not, nor an immediate request: their
// payload is deferred: copied, and sent by polls.

#include <gasnetex.h>

#include <cstddef>

#include "am/network.h"
#include "am/outbound.h"
#include "am/prepare.h"
#include "am/to_self.h"
#include "am/token.h"
#include "core/team.h"

namespace gex::rma {

namespace detail {

/// Returns true if the payload of a long message by that route must go ahead of it.
inline bool goes_ahead(am::Route route, const am::Outbound& message) noexcept {
  const PublishedSegment& segment = *message.segment;
  if (segment.mapped != nullptr || message.size == 0 || am::is_to_self(route.jobrank)) return false;
  return route.link != nullptr ? segment.size != 0 : message.size > am::network_packed_limit();
}

/// Non-zero: refused, because too many such requests are on their way.
int request_after_put(const Target& target, am::Route route, am::Outbound& message,
                      bool immediate) noexcept;
void reply_after_put(gex_Token_t token, am::Route route, const am::Outbound& message) noexcept;

}  // namespace detail

/// The segment into which a long reply to that request goes.
inline PublishedSegment segment_of_requester(gex_Token_t token) noexcept {
  return published_segment(token->header.endpoints().source_address(), token->header.source);
}

/// Sends a request as `am::send_request` does. `route`: to the target's process.
inline int send_long_request(const Target& target, am::Route route, am::Outbound& message,
                             bool immediate) noexcept {
  return detail::goes_ahead(route, message)
             ? detail::request_after_put(target, route, message, immediate)
             : am::send_request(route, message, immediate);
}

/// Sends a reply as `am::send_reply` does. Handler context.
inline void send_long_reply(gex_Token_t token, am::Route route,
                            const am::Outbound& message) noexcept {
  if (detail::goes_ahead(route, message))
    detail::reply_after_put(token, route, message);
  else
    am::send_reply(token, route, message);
}

/// Sends a prepared request as `am::commit` does.
int commit_long_request(gex_AM_SrcDesc_t prepared, const Target& target, am::Outbound& message,
                        gex_Flags_t flags) noexcept;
/// Sends a prepared reply as `am::commit` does. Handler context.
int commit_long_reply(gex_AM_SrcDesc_t prepared, am::Outbound& message, gex_Flags_t flags) noexcept;

}  // namespace gex::rma
