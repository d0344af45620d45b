/* Collectives of GASNet-1, as docs/collective_notes.txt of the public repository describes them.
 * Part of gasnet_coll.h.
 *
 * Collective calls, in one order with those of GASNet-EX on the team. Addresses are local: with
 * GASNET_COLL_LOCAL those of the caller, with GASNET_COLL_SINGLE those that all callers give. Flags
 * are single-valued; one each of
 *
 *   GASNET_COLL_IN_NOSYNC, IN_MYSYNC     data may move once the ranks between which it moves have
 *                                        made the call
 *   GASNET_COLL_IN_ALLSYNC               once all have
 *   GASNET_COLL_OUT_NOSYNC, OUT_MYSYNC   completion means that the caller's memory may be used
 *   GASNET_COLL_OUT_ALLSYNC              and that of all: all have made the call, and the
 *                                        operation is complete at all of them
 *   GASNET_COLL_LOCAL, GASNET_COLL_SINGLE
 *
 * and GASNET_COLL_{SRC,DST}_IN_SEGMENT to assert where the memory is. An image is a rank of the
 * team. `nbytes` are the bytes of one rank's block; blocks stand in rank order. A block may be in
 * its place already: a source that is the caller's own block of the destination, or of a scatter
 * the other way round. Of exchange, the source and destination do not overlap. Of no bytes, a call
 * is complete at once, or with an ALLSYNC flag when all have made it.
 *
 * The forms with _nb never wait for others, whatever the flags. A member may make a call blocking
 * and another with _nb. Not in handlers; handles are synchronised by any thread, in any order.
 */
#ifndef GEX_GASNET1_COLL_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_COLL_H_

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef gex_TM_t gasnet_team_handle_t;
typedef gex_Rank_t gasnet_image_t;
typedef gex_Event_t gasnet_coll_handle_t;
#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID

GEX_EXPORT_ gex_TM_t gex_coll_team_all_(void);
/** All ranks of the job. */
#define GASNET_TEAM_ALL (gex_coll_team_all_())
/** The same team under the name that some clients have for it, once there is a client of GASNet-1.
 */
extern GEX_EXPORT_ gasnet_team_handle_t gasnete_coll_team_all;

#define GASNET_COLL_IN_NOSYNC (1 << 0)
#define GASNET_COLL_IN_MYSYNC (1 << 1)
#define GASNET_COLL_IN_ALLSYNC (1 << 2)
#define GASNET_COLL_OUT_NOSYNC (1 << 3)
#define GASNET_COLL_OUT_MYSYNC (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC (1 << 5)
#define GASNET_COLL_SINGLE (1 << 6)
#define GASNET_COLL_LOCAL (1 << 7)
#define GASNET_COLL_SRC_IN_SEGMENT (1 << 8)
#define GASNET_COLL_DST_IN_SEGMENT (1 << 9)

/** Copies `src` of image `srcimage` to `dst` of all. */
GEX_EXPORT_ void gasnet_coll_broadcast(gasnet_team_handle_t team, void* dst,
                                       gasnet_image_t srcimage, void* src, size_t nbytes,
                                       int flags);
GEX_EXPORT_ gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void* dst,
                                                          gasnet_image_t srcimage, void* src,
                                                          size_t nbytes, int flags);
/** Copies block i of `src` of image `srcimage` to `dst` of rank i. */
GEX_EXPORT_ void gasnet_coll_scatter(gasnet_team_handle_t team, void* dst, gasnet_image_t srcimage,
                                     void* src, size_t nbytes, int flags);
GEX_EXPORT_ gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void* dst,
                                                        gasnet_image_t srcimage, void* src,
                                                        size_t nbytes, int flags);
/** Copies `src` of rank i to block i of `dst` of image `dstimage`. */
GEX_EXPORT_ void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void* dst,
                                    void* src, size_t nbytes, int flags);
GEX_EXPORT_ gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team,
                                                       gasnet_image_t dstimage, void* dst,
                                                       void* src, size_t nbytes, int flags);
/** Copies `src` of rank i to block i of `dst` of all. */
GEX_EXPORT_ void gasnet_coll_gather_all(gasnet_team_handle_t team, void* dst, void* src,
                                        size_t nbytes, int flags);
GEX_EXPORT_ gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void* dst,
                                                           void* src, size_t nbytes, int flags);
/** Copies block j of `src` of rank i to block i of `dst` of rank j. */
GEX_EXPORT_ void gasnet_coll_exchange(gasnet_team_handle_t team, void* dst, void* src,
                                      size_t nbytes, int flags);
GEX_EXPORT_ gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void* dst,
                                                         void* src, size_t nbytes, int flags);

#ifdef GEX_BODIES_
/** Polls until the operation is complete. */
GEX_INLINE_ void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) {
  gex_Event_Wait(handle);
}
/** Polls once; GASNET_OK, or GASNET_ERR_NOT_READY. */
GEX_INLINE_ int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  if (handle != GASNET_COLL_INVALID_HANDLE) gasnet_AMPoll();
  return gex_Event_Test(handle);
}
/* For arrays, in which GASNET_COLL_INVALID_HANDLE is ignored and overwrites what has completed.
 * some: at least one of the others, if any. */
GEX_INLINE_ void gasnet_coll_wait_sync_all(gasnet_coll_handle_t* handles, size_t count) {
  gex_Event_WaitAll(handles, count, 0);
}
GEX_INLINE_ void gasnet_coll_wait_sync_some(gasnet_coll_handle_t* handles, size_t count) {
  gex_Event_WaitSome(handles, count, 0);
}
GEX_INLINE_ int gasnet_coll_try_sync_all(gasnet_coll_handle_t* handles, size_t count) {
  gasnet_AMPoll();
  return gex_Event_TestAll(handles, count, 0);
}
GEX_INLINE_ int gasnet_coll_try_sync_some(gasnet_coll_handle_t* handles, size_t count) {
  gasnet_AMPoll();
  return gex_Event_TestSome(handles, count, 0);
}
#endif

/* The barrier of gex/gasnet1_core.h over any team: identifiers and flags as there, one under way on
 * a team. */
GEX_EXPORT_ void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
GEX_EXPORT_ int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
/** Polls once; GASNET_ERR_NOT_READY while the barrier is not complete. */
GEX_EXPORT_ int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
GEX_EXPORT_ int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);

#ifdef GEX_BODIES_
/* What the collectives have learnt of the machine, into a file: libgex chooses by team and size
 * alone, so there is nothing to write. */
GEX_INLINE_ void gasnet_coll_dumpProfile(const char* filename, gasnet_team_handle_t team) {
  (void)filename;
  (void)team;
}
GEX_INLINE_ void gasnet_coll_dumpTuningState(const char* filename, gasnet_team_handle_t team) {
  (void)filename;
  (void)team;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
