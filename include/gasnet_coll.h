/* gasnet_coll.h: broadcast and reductions. Spec: "Collectives Part II. Data Movement" and "Part
 * III. Computational". The barrier is in gex/barrier.h.
 *
 * These are collective calls: all members of the team make the same ones in the same order, one
 * thread at a time for each team, with equal values of the arguments that are called single-valued
 * here. Addresses are the caller's own and need not be in a segment; they may differ by rank, and
 * the memory belongs to the operation until its event completes.
 *
 * A call never waits for other members. Any number of operations may be in flight on one team and
 * on teams that overlap; they progress while the process polls, and any thread may test or wait for
 * the event. Completion means that the caller's source may be written and its destination read, and
 * nothing about other members. The calls return GEX_EVENT_INVALID when the caller's part is over
 * already. None is legal in handlers, while holding an HSL or in a reduction operator. Flags: 0.
 *
 * Errors end the job with one line: a root that is no rank of the team, a type and operation that
 * do not go together, a wrong size of a type, a user operator that is null. In checked mode members
 * whose calls differ (another collective, root, number of bytes, size or number of elements, type
 * or operation) are named, and an operation begins when all have made the call.
 *
 * No operation needs scratch space of the team.
 *
 * The collectives of GASNet-1 (gasnet_coll_...) are in gex/gasnet1_coll.h, which is included here.
 */
#ifndef _INCLUDED_GASNET_COLL_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_COLL_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Copies `nbytes` bytes from `src` of rank `root` to `dst` of every rank. `src` is ignored
 * elsewhere; on the root it may be `dst`, and does not overlap it otherwise. Single-valued: `root`,
 * `nbytes`. Of 0 bytes: nothing, and no member waits. */
GEX_EXPORT_ gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                             const void* src, size_t nbytes, gex_Flags_t flags);

/** A reduction operator: arg2_and_out[i] = arg1[i] (+) arg2_and_out[i] for `count` elements, any
 * positive number, however many the call was given. `arg1` is not written; the two do not overlap,
 * but may be the caller's buffers. Where they are not, they are aligned as a type of that size may
 * ask for, up to 64 bytes. `cdata` is what the caller of this process gave. May be called
 * by any thread and concurrently with itself; waits for nothing and makes no GASNet call but those
 * allowed while holding an HSL. */
typedef void (*gex_Coll_ReduceFn_t)(const void* arg1, void* arg2_and_out, size_t count,
                                    const void* cdata);

/* Reductions: dst[i] = src[i] of rank 0 (+) src[i] of rank 1 (+) ..., for `dt_cnt` elements of
 * `dt_sz` bytes, of any size.
 *
 * `dt` is one GEX_DT_ type, and `op` is one of
 *   GEX_OP_ADD, MULT, MIN, MAX    built-in types
 *   GEX_OP_AND, OR, XOR           built-in integer types
 *   GEX_OP_USER                   any type; `user_op` is associative and commutative
 *   GEX_OP_USER_NC                any type; associative: operands keep the order of their ranks
 * For built-in types `dt_sz` is sizeof. Integers wrap around. MIN is a < b ? a : b and MAX
 * a > b ? a : b of some order of the operands, so where one is a NaN the result may be either.
 * `user_op` and `user_cdata` are ignored for other operations, and may differ by rank.
 *
 * Single-valued: `root`, `dt`, `dt_sz`, `dt_cnt`, `op`. The operands are combined in an order that
 * depends on the team, the ranks and these arguments only: the same call gives the same result, to
 * the last bit, and on all ranks. Of 0 elements: nothing, and no member waits. */

/** The result goes to rank `root`; elsewhere `dst` is ignored. `src` may be `dst`, and does not
 * overlap it otherwise. */
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                               const void* src, gex_DT_t dt, size_t dt_sz,
                                               size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);

/** The result goes to every rank. `src` may be `dst` on all ranks, or on none, and does not overlap
 * it otherwise. */
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                               size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#include <gex/gasnet1_coll.h>

#endif
