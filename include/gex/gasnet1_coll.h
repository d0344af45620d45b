/** @file
 * Collectives of GASNet-1. Part of gasnet_coll.h.
 *
 * They are in one order with the collectives of GASNet-EX on the team.
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

/** @name Types and teams of collectives (GASNet-1)
 * Names of the EX objects: a team, a rank of a team, which is called an image, and an event.
 * @par Specification
 * GASNet, docs/collective_notes.txt.
 * @see gasnet_coll_broadcast
 */
/**@{*/
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
/**@}*/

/** @name Flags of collectives (GASNet-1)
 * What a collective waits for, and what its addresses are: one of each of the first three groups,
 * ORed.
 *
 * - GASNET_COLL_IN_NOSYNC, IN_MYSYNC: data may move once the ranks between which it moves have made
 *   the call; IN_ALLSYNC: once all have.
 * - GASNET_COLL_OUT_NOSYNC, OUT_MYSYNC: completion means that the caller's memory may be used;
 *   OUT_ALLSYNC: that of all ranks.
 * - GASNET_COLL_LOCAL: addresses are the caller's; GASNET_COLL_SINGLE: all callers give those of
 *   all.
 * - GASNET_COLL_SRC_IN_SEGMENT, DST_IN_SEGMENT: an assertion of where the memory is.
 *
 * @par Specification
 * GASNet, docs/collective_notes.txt.
 * @see gasnet_coll_broadcast
 */
/**@{*/
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
/**@}*/

/** @name Collectives (GASNet-1)
 * Move blocks of bytes between the ranks of a team.
 *
 * A block may be in its place already: a source that is the caller's own block of the destination,
 * or of a scatter the other way round. Of exchange, source and destination do not overlap.
 *
 * @param team      The team; #GASNET_TEAM_ALL for all ranks.
 * @param dst       Receives the block, or the blocks in rank order. A local address.
 * @param src       The block, or the blocks in rank order. A local address.
 * @param srcimage  The rank whose `src` is read. Single-valued.
 * @param dstimage  The rank whose `dst` is written. Single-valued.
 * @param nbytes    Bytes of one rank's block. Single-valued. 0: the call is complete at once, or
 *                  with an ALLSYNC flag when all have made it.
 * @param flags     An OR of GASNET_COLL_... Single-valued.
 * @return The _nb forms: a handle.
 * @par Completion
 * The forms without _nb return when the operation is complete, in the sense of the flags. Those
 * with _nb never wait for others, whatever the flags. A member may make a call blocking and another
 * with _nb.
 * @par Context
 * Collective over the team; not in handlers, not while holding a lock. Handles are synchronised by
 * any thread, in any order.
 * @par Example
 * @code
 * gasnet_coll_gather_all(GASNET_TEAM_ALL, all, &mine, sizeof mine,
 *                        GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
 * @endcode
 * @par Specification
 * GASNet, docs/collective_notes.txt.
 * @see gasnet_coll_wait_sync, GASNET_COLL_LOCAL, gex_Coll_BroadcastNB
 */
/**@{*/
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

/**@}*/

/** @name Synchronise collectives (GASNet-1)
 * Wait, or try, until collectives are complete.
 *
 * @param handle   What a call with _nb returned.
 * @param handles  An array of handles, in which #GASNET_COLL_INVALID_HANDLE is ignored and
 *                 overwrites what has completed.
 * @param count    Entries of the array.
 * @return try calls: GASNET_OK, or GASNET_ERR_NOT_READY. _all: when all are complete; _some: when
 *         at least one of those that are not #GASNET_COLL_INVALID_HANDLE is, if any.
 * @par Context
 * Any thread; not in handlers, not while holding a lock. wait polls until it is so, try polls once.
 * @par Example
 * @code
 * gasnet_coll_handle_t handle = gasnet_coll_broadcast_nb(
 *     GASNET_TEAM_ALL, values, 0, values, sizeof values,
 *     GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
 * compute();
 * gasnet_coll_wait_sync(handle);
 * @endcode
 * @par Specification
 * GASNet, docs/collective_notes.txt.
 * @see gex_Event_Wait, gex_Event_WaitAll
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) {
  gex_Event_Wait(handle);
}
GEX_INLINE_ int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  if (handle != GASNET_COLL_INVALID_HANDLE) gasnet_AMPoll();
  return gex_Event_Test(handle);
}
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
/**@}*/

/** @name Barriers of teams (GASNet-1)
 * The barrier of gasnet_barrier_notify over any team; one is under way on a team.
 *
 * @param team   The team.
 * @param id     As for gasnet_barrier_notify.
 * @param flags  As for gasnet_barrier_notify.
 * @return As gasnet_barrier_wait and gasnet_barrier_try.
 * @par Context
 * Collective over the team; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_coll_barrier(team, 0, GASNET_BARRIERFLAG_UNNAMED);
 * @endcode
 * @par Specification
 * GASNet, docs/collective_notes.txt.
 * @see gasnet_barrier, gex_Coll_BarrierNB
 */
/**@{*/
GEX_EXPORT_ void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
GEX_EXPORT_ int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
GEX_EXPORT_ int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
GEX_EXPORT_ int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
/**@}*/

/** @name State of the collectives (GASNet-1)
 * Write what the collectives have learnt of the machine into a file: nothing, because libgex
 * chooses by team and size alone.
 *
 * @param filename  Ignored.
 * @param team      Ignored.
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_coll_dumpProfile(const char* filename, gasnet_team_handle_t team) {
  (void)filename;
  (void)team;
}
GEX_INLINE_ void gasnet_coll_dumpTuningState(const char* filename, gasnet_team_handle_t team) {
  (void)filename;
  (void)team;
}
#endif
/**@}*/

#ifdef GEX_DECLARATIONS_
GEX_EXPORT_ void gasnet_coll_wait_sync(gasnet_coll_handle_t handle);
GEX_EXPORT_ int gasnet_coll_try_sync(gasnet_coll_handle_t handle);
GEX_EXPORT_ void gasnet_coll_wait_sync_all(gasnet_coll_handle_t* handles, size_t count);
GEX_EXPORT_ void gasnet_coll_wait_sync_some(gasnet_coll_handle_t* handles, size_t count);
GEX_EXPORT_ int gasnet_coll_try_sync_all(gasnet_coll_handle_t* handles, size_t count);
GEX_EXPORT_ int gasnet_coll_try_sync_some(gasnet_coll_handle_t* handles, size_t count);
GEX_EXPORT_ void gasnet_coll_dumpProfile(const char* filename, gasnet_team_handle_t team);
GEX_EXPORT_ void gasnet_coll_dumpTuningState(const char* filename, gasnet_team_handle_t team);
#endif

#ifdef __cplusplus
}
#endif
#endif
