#pragma once
// Collectives of GASNet-1: those of coll/, with its synchronisation flags.

#include <gasnet_coll.h>

#include "coll/collective.h"
#include "core/team.h"

namespace gex::legacy {

/// Starts an operation whose arguments are checked; its flags are those of GASNet-1. Waits for
/// others only if it may, as a blocking call does in any case; whether members may need not agree.
gex_Event_t start_collective(Team& team, coll::Request request, bool may_wait) noexcept;

/// Barriers over a team, split in two, with identifiers that must agree: see gasnet1_core.h.
void team_barrier_notify(Team& team, int id, int flags) noexcept;
/// GASNET_OK, GASNET_ERR_BARRIER_MISMATCH, or with `wait` false GASNET_ERR_NOT_READY.
int team_barrier_finish(Team& team, int id, int flags, bool wait);

}  // namespace gex::legacy
