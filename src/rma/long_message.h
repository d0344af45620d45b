#pragma once
// Long messages whose payload cannot go with them: to neighbors whose segment is not mapped here,
// which is memory of the client's, and over a network requests with more than a message carries.
//
// The payload goes ahead as a put, and the message follows when the put has been acknowledged. A
// request waits for that, polling. A reply may not, nor an immediate request: their payload is
// kept, and polls send it.

#include <gasnetex.h>

#include <cstddef>

#include "am/network.h"
#include "am/outbound.h"
#include "core/team.h"

namespace gex::rma {

/// Whether the payload of a long message must go ahead of it: `segment` is the bound segment of an
/// endpoint of `jobrank`.
inline bool goes_ahead(const PublishedSegment& segment, gex_Rank_t jobrank,
                       std::size_t size) noexcept {
  if (segment.mapped != nullptr || size == 0 || jobrank == gex_proc_.jobrank) return false;
  return process().neighborhood.contains(jobrank) ? segment.size != 0
                                                  : size > am::network_packed_limit();
}

/// Sends a request whose payload goes ahead; waits for it, polling, unless `immediate`: then it
/// copies all that it needs, or answers non-zero because too many such requests are on their way.
int request_after_put(const Peer& peer, am::Outbound& message, bool immediate) noexcept;

/// Sends a reply whose payload goes ahead; copies all that it needs. Handler context.
void reply_after_put(gex_Token_t token, const am::Outbound& message) noexcept;

}  // namespace gex::rma
