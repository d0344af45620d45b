#pragma once
// Making and ending teams, attaching and publishing segments: what members must agree on.
// All are collective over a team, from client context.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "core/team.h"

namespace gex::team {

/// The team of all primordial endpoints; start-up, after messages work.
Team& create_primordial(gex_Client_t client);

/// The flags with which gex_TM_Split and gex_TM_Create only return the size of scratch.
inline constexpr gex_Flags_t size_queries =
    GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN;

/// These two, arguments checked by the caller.
std::size_t split(gex_TM_t* new_team, Team& parent, int color, int key, void* scratch,
                  std::size_t scratch_size, gex_Flags_t flags);
std::size_t create(gex_TM_t* new_teams, std::size_t new_team_count, Team& parent,
                   const gex_EP_Location_t* members, std::size_t member_count,
                   const gex_Addr_t* scratch, std::size_t scratch_size, gex_Flags_t flags);
/// `end` is called by `destroy` when every member has called it, before the team's slot of shared
/// memory becomes free; start-up only.
void set_end_hook(void (*end)(Team& team) noexcept) noexcept;
/// Returns non-zero if it has written *scratch: there was scratch, and `scratch` is not null.
int destroy(Team& team, gex_Memvec_t* scratch, gex_Flags_t flags);

/// gex_Segment_Attach over the primordial team; a size of 0: this process takes part, but has no
/// segment, and *segment is GEX_SEGMENT_INVALID. GASNET_ERR_RESOURCE with one line on every rank
/// whose host cannot hold the segments. `flaw`: the error code of this process's arguments, which
/// it returns; nothing is attached then, and the other members return GASNET_ERR_RESOURCE.
int attach(gex_Segment_t* segment, Team& team, std::uintptr_t size, int flaw = GASNET_OK);
int publish(Team& team, const gex_EP_t* endpoints, std::size_t count);

}  // namespace gex::team
