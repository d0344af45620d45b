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

bool crosses_network(gex_TM_t tm, gex_Rank_t rank) noexcept {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  if (rank != GEX_RANK_INVALID) return !neighborhood.contains(resolve(tm, rank).jobrank);
  if (GEX_IS_PAIR_(tm)) return neighborhood.size() < gex_proc_.jobsize;
  const Team& team = team_out_of_line(tm);
  for (gex_Rank_t member = 0; member < team.size; ++member)
    if (!neighborhood.contains(team.jobrank_of(member))) return true;
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
  return medium_limit(!process().neighborhood.contains(jobrank));
}
std::size_t max_long(gex_Rank_t jobrank, bool is_reply, gex_Flags_t flags) noexcept {
  return long_limit(!process().neighborhood.contains(jobrank), is_reply, flags);
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
  return medium_limit(process().neighborhood.size() < gex_proc_.jobsize);
}
std::size_t least_max_long(bool is_reply) noexcept {
  return long_limit(process().neighborhood.size() < gex_proc_.jobsize, is_reply, 0);
}

}  // namespace gex::am
