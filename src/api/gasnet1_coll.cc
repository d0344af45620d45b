// Entry points: collectives of GASNet-1.

#include <gasnet_coll.h>

#include <bit>

#include "api/require.h"
#include "base/error.h"
#include "core/event.h"
#include "core/objects.h"
#include "legacy/collectives.h"
#include "observe/in_call.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::InCall;
using gex::coll::Kind;
using gex::coll::Request;

constexpr int in_flags = GASNET_COLL_IN_NOSYNC | GASNET_COLL_IN_MYSYNC | GASNET_COLL_IN_ALLSYNC;
constexpr int out_flags = GASNET_COLL_OUT_NOSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_OUT_ALLSYNC;
constexpr int scope_flags = GASNET_COLL_SINGLE | GASNET_COLL_LOCAL;
constexpr int segment_flags = GASNET_COLL_SRC_IN_SEGMENT | GASNET_COLL_DST_IN_SEGMENT;

void require_one(int flags, int of, const char* which, const char* call) {
  if (!std::has_single_bit(static_cast<unsigned>(flags & of)))
    fatal("%s: not exactly one %s flag in 0x%x", call, which, static_cast<unsigned>(flags));
}

void check_buffer(const gex::Team& team, const void* buffer, std::size_t bytes, bool in_segment,
                  const char* which, const char* call) {
  if (bytes == 0) return;
  if (buffer == nullptr) fatal("%s: %s is null", call, which);
  const gex_Segment_t segment = team.endpoint->segment;
  if (in_segment && (segment == nullptr || !segment->contains(buffer, bytes)))
    fatal("%s: %zu bytes of %s at %p are not in the bound segment, which flags assert", call, bytes,
          which, buffer);
}

/// Blocks that the caller's source and destination hold.
struct Extent {
  std::size_t source;
  std::size_t destination;
};
Extent extent_of(Kind kind, bool root, gex_Rank_t size) {
  switch (kind) {
    case Kind::scatter:
      return {root ? size : 0U, 1};
    case Kind::gather:
      return {1, root ? size : 0U};
    case Kind::gather_to_all:
      return {1, size};
    case Kind::exchange:
      return {size, size};
    default:
      return {root ? 1U : 0U, 1};
  }
}

gex_Event_t begin(Call call, Kind kind, gex_TM_t tm, gex_Rank_t root, void* dst, void* src,
                  std::size_t nbytes, int flags, bool may_wait) {
  const char* name = name_of(call);
  gex::Team& team = gex::require_team(tm, name);
  if (root >= team.size)
    fatal("%s: image %u is not below the team's size %u", name, root, team.size);
  if (checked()) {
    gex::require_flags(static_cast<gex_Flags_t>(flags),
                       static_cast<gex_Flags_t>(in_flags | out_flags | scope_flags | segment_flags),
                       name);
    require_one(flags, in_flags, "GASNET_COLL_IN", name);
    require_one(flags, out_flags, "GASNET_COLL_OUT", name);
    require_one(flags, scope_flags, "GASNET_COLL_LOCAL or SINGLE", name);
    const Extent extent = extent_of(kind, team.rank == root, team.size);
    check_buffer(team, src, extent.source * nbytes, (flags & GASNET_COLL_SRC_IN_SEGMENT) != 0,
                 "src", name);
    check_buffer(team, dst, extent.destination * nbytes, (flags & GASNET_COLL_DST_IN_SEGMENT) != 0,
                 "dst", name);
  }
  Request request;
  request.call = call;
  request.kind = kind;
  request.root = root;
  request.destination = static_cast<std::byte*>(dst);
  request.source = static_cast<const std::byte*>(src);
  request.bytes = nbytes;
  request.flags = static_cast<gex_Flags_t>(flags);
  return gex::legacy::start_collective(team, request, may_wait);
}

/// The form with _nb.
gex_Event_t start(Call which, Kind kind, gex_TM_t tm, gex_Rank_t root, void* dst, void* src,
                  std::size_t nbytes, int flags) {
  InCall call(which);
  return call.returns(begin(call, kind, tm, root, dst, src, nbytes, flags, false));
}

/// The blocking form. Does not wait by gex_Event_Wait, which would be reported as the rank's call.
void complete(Call which, Kind kind, gex_TM_t tm, gex_Rank_t root, void* dst, void* src,
              std::size_t nbytes, int flags) {
  const InCall call(which);
  const gex_Event_t event = begin(call, kind, tm, root, dst, src, nbytes, flags, true);
  if (event != GEX_EVENT_INVALID) gex::finish_event(event);
}

gex::Team& team_of_barrier(Call call, gex_TM_t tm, int flags) {
  gex::require_flags(
      static_cast<gex_Flags_t>(flags),
      GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_MISMATCH | GASNET_BARRIERFLAG_UNNAMED,
      name_of(call));
  return gex::require_team(tm, name_of(call));
}

}  // namespace

extern "C" {

gasnet_team_handle_t gasnete_coll_team_all = GEX_TM_INVALID;

gex_TM_t gex_coll_team_all_(void) {
  const gex_Client_t client = gex::gasnet1_client();
  if (client == nullptr) fatal("GASNET_TEAM_ALL: used before gasnet_init or gex_Client_Init");
  return client->team;
}

gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void* dst,
                                              gasnet_image_t srcimage, void* src, size_t nbytes,
                                              int flags) {
  return start(Call::coll_broadcast, Kind::broadcast, team, srcimage, dst, src, nbytes, flags);
}
void gasnet_coll_broadcast(gasnet_team_handle_t team, void* dst, gasnet_image_t srcimage, void* src,
                           size_t nbytes, int flags) {
  complete(Call::coll_broadcast, Kind::broadcast, team, srcimage, dst, src, nbytes, flags);
}

gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void* dst,
                                            gasnet_image_t srcimage, void* src, size_t nbytes,
                                            int flags) {
  return start(Call::coll_scatter, Kind::scatter, team, srcimage, dst, src, nbytes, flags);
}
void gasnet_coll_scatter(gasnet_team_handle_t team, void* dst, gasnet_image_t srcimage, void* src,
                         size_t nbytes, int flags) {
  complete(Call::coll_scatter, Kind::scatter, team, srcimage, dst, src, nbytes, flags);
}

gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team, gasnet_image_t dstimage,
                                           void* dst, void* src, size_t nbytes, int flags) {
  return start(Call::coll_gather, Kind::gather, team, dstimage, dst, src, nbytes, flags);
}
void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void* dst, void* src,
                        size_t nbytes, int flags) {
  complete(Call::coll_gather, Kind::gather, team, dstimage, dst, src, nbytes, flags);
}

gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void* dst, void* src,
                                               size_t nbytes, int flags) {
  return start(Call::coll_gather_all, Kind::gather_to_all, team, 0, dst, src, nbytes, flags);
}
void gasnet_coll_gather_all(gasnet_team_handle_t team, void* dst, void* src, size_t nbytes,
                            int flags) {
  complete(Call::coll_gather_all, Kind::gather_to_all, team, 0, dst, src, nbytes, flags);
}

gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void* dst, void* src,
                                             size_t nbytes, int flags) {
  return start(Call::coll_exchange, Kind::exchange, team, 0, dst, src, nbytes, flags);
}
void gasnet_coll_exchange(gasnet_team_handle_t team, void* dst, void* src, size_t nbytes,
                          int flags) {
  complete(Call::coll_exchange, Kind::exchange, team, 0, dst, src, nbytes, flags);
}

void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags) {
  const InCall call(Call::coll_barrier_notify);
  gex::legacy::team_barrier_notify(team_of_barrier(call, team, flags), id, flags);
}
int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags) {
  const InCall call(Call::coll_barrier_wait);
  return gex::legacy::team_barrier_finish(team_of_barrier(call, team, flags), id, flags, true);
}
int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags) {
  InCall call(Call::coll_barrier_try);
  return call.answers(
      gex::legacy::team_barrier_finish(team_of_barrier(call, team, flags), id, flags, false));
}
int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags) {
  gasnet_coll_barrier_notify(team, id, flags);
  return gasnet_coll_barrier_wait(team, id, flags);
}

}  // extern "C"
