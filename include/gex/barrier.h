/* Barriers of GASNet-EX. Spec: "Collectives Part I. Barrier". Part of gasnetex.h. */
#ifndef GEX_BARRIER_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_BARRIER_H_

#include <gex/objects.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts a barrier over the team and never blocks; the event completes once every member has made
 * the matching call. Any number may be in flight on one team. Starting releases, synchronising
 * acquires. Collective; flags: 0. Not in handlers. */
GEX_EXPORT_ gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);

/** BarrierNB and its wait in one call. */
GEX_EXPORT_ void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
