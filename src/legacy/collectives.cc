#include "legacy/collectives.h"

#include "coll/coll.h"
#include "core/process.h"
#include "team/barrier.h"

namespace gex::legacy {

gex_Event_t start_collective(Team& team, coll::Request request, bool may_wait) noexcept {
  const bool enters_together = (request.flags & GASNET_COLL_IN_ALLSYNC) != 0;
  request.completes_together = (request.flags & GASNET_COLL_OUT_ALLSYNC) != 0;
  if (request.bytes == 0 && (enters_together || request.completes_together)) {
    // Nothing moves, so that it is complete once all have called.
    coll::announce(team, coll::announcement_of(request));
    return team::start_barrier(team);
  }
  if (enters_together) {
    // Waiting for the barrier alone is quickest. Checked mode first announces the call.
    if (may_wait && !checked())
      team::barrier_blocking(team);
    else
      request.after_barrier = barrier_of(team).start();
  }
  return coll::start_collective(team, request);
}

}  // namespace gex::legacy
