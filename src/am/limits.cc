#include "am/limits.h"

#include <algorithm>

#include "am/message.h"
#include "am/network.h"
#include "core/process.h"
#include "core/team.h"

namespace gex::am {

namespace {

/// A long message within the host is one copy, whatever its size; the bound keeps one message from
/// occupying a ring's producer for seconds.
constexpr std::size_t local_long_limit = std::size_t{1} << 30;

/// Returns true if some message of the job goes over the network.
bool any_crosses_network() noexcept {
  return process().neighborhood.size() < gex_proc_.jobsize;
}
bool crosses_network(gex_Rank_t jobrank) noexcept {
  return !process().neighborhood.contains(jobrank);
}
/// Returns true if some message between this process and `rank` does, or if that is
/// GEX_RANK_INVALID, any rank of the team or of the pair's reach.
bool crosses_network(gex_TM_t tm, gex_Rank_t rank) noexcept {
  if (rank != GEX_RANK_INVALID) return crosses_network(resolve(tm, rank).jobrank);
  if (GEX_IS_PAIR_(tm)) return any_crosses_network();
  const Team& team = team_out_of_line(tm);
  for (gex_Rank_t member = 0; member < team.size; ++member)
    if (crosses_network(team.jobrank_of(member))) return true;
  return false;
}

std::size_t medium_limit(bool network) noexcept {
  return network ? network_medium_limit() : max_medium_payload;
}

std::size_t long_limit(bool network, bool is_reply, gex_Flags_t flags) noexcept {
  const std::size_t limit = network ? network_long_limit(is_reply) : local_long_limit;
  const bool allocated = (flags & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) != 0;
  return allocated ? std::min<std::size_t>(limit, max_medium_payload) : limit;
}

}  // namespace

std::size_t max_medium(gex_Rank_t jobrank) noexcept {
  return medium_limit(crosses_network(jobrank));
}
std::size_t max_long(gex_Rank_t jobrank, bool is_reply, gex_Flags_t flags) noexcept {
  return long_limit(crosses_network(jobrank), is_reply, flags);
}
std::size_t max_long(Route route, bool is_reply, gex_Flags_t flags) noexcept {
  return long_limit(crosses_network(route), is_reply, flags);
}
std::size_t max_medium(gex_TM_t tm, gex_Rank_t rank) noexcept {
  return medium_limit(crosses_network(tm, rank));
}
std::size_t max_long(gex_TM_t tm, gex_Rank_t rank, bool is_reply, gex_Flags_t flags) noexcept {
  return long_limit(crosses_network(tm, rank), is_reply, flags);
}

std::size_t least_max_medium() noexcept {
  return medium_limit(any_crosses_network());
}
std::size_t least_max_long(bool is_reply) noexcept {
  return long_limit(any_crosses_network(), is_reply, 0);
}

}  // namespace gex::am
