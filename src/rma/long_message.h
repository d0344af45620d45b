#pragma once
// Long messages, from a client's payload or a prepared one.
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
#include "am/token.h"
#include "core/team.h"

namespace gex::rma {

namespace detail {

/// Returns true if the payload of a long message must go ahead of it: `segment` is the bound
/// segment of an endpoint of `jobrank`.
inline bool goes_ahead(const PublishedSegment& segment, gex_Rank_t jobrank,
                       std::size_t size) noexcept {
  if (segment.mapped != nullptr || size == 0 || jobrank == gex_proc_.jobrank) return false;
  return process().neighborhood.contains(jobrank) ? segment.size != 0
                                                  : size > am::network_packed_limit();
}

/// Non-zero: refused, because too many such requests are on their way.
int request_after_put(const Target& target, am::Outbound& message, bool immediate) noexcept;
void reply_after_put(gex_Token_t token, const am::Outbound& message) noexcept;

}  // namespace detail

/// The segment into which a long reply to that request goes.
inline PublishedSegment segment_of_requester(gex_Token_t token) noexcept {
  return published_segment(token->header.endpoints().source_address(), token->header.source);
}

/// Sends a request as `am::send_request` does.
inline int send_long_request(const Target& target, am::Outbound& message, bool immediate) noexcept {
  return detail::goes_ahead(target.segment(), target.jobrank, message.size)
             ? detail::request_after_put(target, message, immediate)
             : am::send_request(target.jobrank, message, immediate);
}

/// Sends a reply as `am::send_reply` does. Handler context.
inline void send_long_reply(gex_Token_t token, am::Outbound& message) noexcept {
  if (detail::goes_ahead(segment_of_requester(token), token->header.source, message.size))
    detail::reply_after_put(token, message);
  else
    am::send_reply(token, message);
}

/// Sends a prepared request as `am::commit` does.
int commit_long_request(gex_AM_SrcDesc_t prepared, const Target& target, am::Outbound& message,
                        gex_Flags_t flags) noexcept;
/// Sends a prepared reply as `am::commit` does. Handler context.
int commit_long_reply(gex_AM_SrcDesc_t prepared, am::Outbound& message, gex_Flags_t flags) noexcept;

}  // namespace gex::rma
