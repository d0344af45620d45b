#pragma once
// Payload limits. They follow from constants and from what the conduit reported at start (equal on
// all ranks), never from local settings or credits: the symmetry rules of the spec depend on it.

#include <gasnetex.h>

#include <cstddef>

#include "am/network.h"
#include "am/outbound.h"
#include "am/to_self.h"

namespace gex::am {

/// Returns true if a message goes over the network: neither to a neighbor, through its ring, nor to
/// this process. Limits and ways of sending follow from it; limits.cc asks it of messages that have
/// no route yet.
inline bool crosses_network(Route route) noexcept {
  return route.link == nullptr && !is_to_self(route.jobrank);
}

/// Largest payload between this process and `jobrank`, or the one to which a route leads.
std::size_t max_medium(gex_Rank_t jobrank) noexcept;
inline std::size_t max_medium(Route route) noexcept {
  return crosses_network(route) ? network_medium_limit() : max_medium_payload;
}
/// `flags`: GEX_FLAG_AM_PREPARE_LEAST_ALLOC limits it to what the library can allocate. Over a
/// network a request's payload may go ahead of it (rma/long_message.h), a reply's goes with it.
std::size_t max_long(gex_Rank_t jobrank, bool is_reply, gex_Flags_t flags) noexcept;
std::size_t max_long(Route route, bool is_reply, gex_Flags_t flags) noexcept;

/// The least of them over a team's members or a pair's reach; `rank` may be GEX_RANK_INVALID.
std::size_t max_medium(gex_TM_t tm, gex_Rank_t rank) noexcept;
std::size_t max_long(gex_TM_t tm, gex_Rank_t rank, bool is_reply, gex_Flags_t flags) noexcept;

/// The least over the whole job.
std::size_t least_max_medium() noexcept;
std::size_t least_max_long(bool is_reply) noexcept;

}  // namespace gex::am
