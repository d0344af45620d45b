#include "legacy/collectives.h"

#include "coll/coll.h"
#include "core/process.h"
#include "team/barrier.h"

namespace gex::legacy {

gex_Event_t start_collective(Team& team, coll::Request request, int flags, Call call,
                             bool may_wait) noexcept {
  const coll::Announcement announcement{.call = call,
                                        .root = request.root,
                                        .bytes = request.bytes,
                                        .flags = static_cast<gex_Flags_t>(flags)};
  const bool enters_together = (flags & GASNET_COLL_IN_ALLSYNC) != 0;
  request.completes_together = (flags & GASNET_COLL_OUT_ALLSYNC) != 0;
  if (request.bytes == 0 && (enters_together || request.completes_together)) {
    // Nothing moves, so that it is complete once all have called.
    coll::announce(team, announcement);
    return team::start_barrier(team);
  }
  if (enters_together) {
    // Waiting for the barrier alone is quickest. Checked mode first announces the call.
    if (may_wait && !checked())
      team::barrier_blocking(team);
    else
      request.after_barrier = barrier_of(team).start();
  }
  return coll::start_collective(team, request, announcement);
}

}  // namespace gex::legacy
