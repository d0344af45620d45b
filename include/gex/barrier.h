/** @file
 * Barriers over teams. Part of gasnetex.h. The barrier of GASNet-1, with identifiers, is in
 * gex/gasnet1_core.h.
 */
#ifndef GEX_BARRIER_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_BARRIER_H_

#include <gex/objects.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Barrier
 * No member is past the barrier before every member has reached it.
 *
 * @param tm     The team; not a TM-pair.
 * @param flags  0.
 * @return BarrierNB: an event, which completes once every member has made the matching call.
 * @par Completion
 * BarrierNB never waits. Any number of barriers and other collectives may be under way on one team;
 * the order in which they were started is what matches them.
 * @par Ordering and visibility
 * What a member wrote to its memory before it started the barrier, and what its operations wrote
 * anywhere if they were complete by then, can be read by every member after its event is complete.
 * Operations under way are not waited for.
 * @par Errors
 * None is returned. A member that has died ends the job.
 * @par Context
 * Collective over the team: one thread of each member at a time, all members in one order. Not in
 * handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_Event_t barrier = gex_Coll_BarrierNB(tm, 0);
 * prepare_next_step();
 * gex_Event_Wait(barrier);
 * @endcode
 * @par Specification
 * GASNet-EX, "Collectives Part I. Barrier".
 * @see gex_Coll_BroadcastNB, gasnet_barrier
 */
/**@{*/
/** Starts a barrier. */
GEX_EXPORT_ gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);

/** Starts a barrier and polls until it is complete. */
GEX_EXPORT_ void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
