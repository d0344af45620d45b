/* gasnet_coll.h: broadcast and reductions. Spec: "Collectives Part II" and "Part III".
 *
 * The interface is declared whole. This release of libgex does not define its functions yet: a
 * program that calls one does not link, and the linker names it. The barrier (gex/barrier.h) is
 * here.
 */
#ifndef _INCLUDED_GASNET_COLL_H
#define _INCLUDED_GASNET_COLL_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reduction operator: arg2_and_out[i] = arg1[i] (+) arg2_and_out[i] for `count` elements. May be
 * called concurrently and with any positive count; makes no GASNet call but those allowed while
 * holding an HSL. */
typedef void (*gex_Coll_ReduceFn_t)(const void* arg1, void* arg2_and_out, size_t count,
                                    const void* cdata);

/* Collective over the team; flags: 0. Buffers are local addresses and belong to the operation until
 * its event completes. */
GEX_EXPORT_ gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                             const void* src, size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                               const void* src, gex_DT_t dt, size_t dt_sz,
                                               size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                               size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
