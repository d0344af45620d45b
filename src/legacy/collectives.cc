#include "legacy/collectives.h"

#include "coll/coll.h"
#include "core/event.h"
#include "team/barrier.h"

namespace gex::legacy {

gex_Event_t start_collective(Team& team, const coll::Request& request, int flags,
                             Call call) noexcept {
  if ((flags & GASNET_COLL_IN_ALLSYNC) != 0) team::barrier_blocking(team);
  const gex_Event_t event = coll::start(team, request,
                                        {.call = call,
                                         .root = request.root,
                                         .bytes = request.bytes,
                                         .flags = static_cast<gex_Flags_t>(flags)});
  if ((flags & (GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC)) == 0) return event;
  if (event != GEX_EVENT_INVALID) wait_event(event);
  if ((flags & GASNET_COLL_OUT_ALLSYNC) != 0) team::barrier_blocking(team);
  return GEX_EVENT_INVALID;
}

}  // namespace gex::legacy
