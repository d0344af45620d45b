/** @file
 * Collectives: broadcast and reductions. The barrier is in gex/barrier.h, the collectives of
 * GASNet-1 (gasnet_coll_...) are in gex/gasnet1_coll.h, which is included here.
 *
 * These are collective calls: all members of the team make the same ones in the same order, one
 * thread at a time for each team, with equal values of the arguments that are called single-valued
 * here. Addresses are the caller's own and need not be in a segment; they may differ by rank. No
 * operation needs scratch space of the team.
 *
 * A call never waits for other members. Any number of operations may be under way on one team and
 * on teams that overlap; they progress while the process polls, and any thread may test or wait for
 * the event.
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

/** Copies memory of one rank to all ranks of a team.
 *
 * @param tm      The team; not a TM-pair.
 * @param root    The rank whose bytes are copied. Single-valued.
 * @param dst     Receives them, on every rank, the root too; the operation's until it is complete.
 * @param src     On the root the bytes, the operation's until it is complete; may be `dst`, and
 *                does not overlap it otherwise. Ignored elsewhere.
 * @param nbytes  How many. Single-valued. 0: nothing happens, and no member waits.
 * @param flags   0.
 * @return The event.
 * @par Completion
 * The event, which is #GEX_EVENT_INVALID if the caller's part is over already, completes when the
 * source may be written to again and the destination read. It means nothing about other members.
 * @par Errors
 * None is returned. A root that is no rank of the team ends the job with one line. In the checking
 * library so do members whose calls differ: it names them, and begins an operation when all have
 * made the call.
 * @par Context
 * Collective over the team; not in handlers, not while holding an HSL, not in a reduction operator.
 * @par Example
 * @code
 * struct parameters p;
 * if (gex_TM_QueryRank(tm) == 0) read_parameters(&p);
 * gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &p, &p, sizeof p, 0));
 * @endcode
 * @par Specification
 * GASNet-EX, "Collectives Part II. Data Movement".
 * @see gex_Coll_BarrierNB, gex_Coll_ReduceToAllNB
 */
GEX_EXPORT_ gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                             const void* src, size_t nbytes, gex_Flags_t flags);

/** A reduction operator of the client's: arg2_and_out[i] = arg1[i] (+) arg2_and_out[i].
 *
 * Its arguments are `arg1`, which is not written; `arg2_and_out`; `count`, the number of elements,
 * any positive one, however many the call was given; and `cdata`, what the caller of this process
 * gave. The two operands do not overlap, but may be the caller's buffers. Where they are not, they
 * are aligned as a type of that size may ask for, up to 64 bytes.
 * @par Context
 * It may be called by any thread that polls, and concurrently with itself. It waits for nothing and
 * makes no GASNet call but those allowed while holding an HSL.
 * @see gex_Coll_ReduceToAllNB
 */
typedef void (*gex_Coll_ReduceFn_t)(const void* arg1, void* arg2_and_out, size_t count,
                                    const void* cdata);

/** @name Reductions
 * Combine the elements of all ranks: dst[i] = src[i] of rank 0 (+) src[i] of rank 1 (+) ...
 *
 * `op` is one of
 * - #GEX_OP_ADD, #GEX_OP_MULT, #GEX_OP_MIN, #GEX_OP_MAX: for built-in types;
 * - #GEX_OP_AND, #GEX_OP_OR, #GEX_OP_XOR: for built-in integer types;
 * - #GEX_OP_USER: for any type; `user_op` is associative and commutative;
 * - #GEX_OP_USER_NC: for any type; `user_op` is associative, and operands keep the order of their
 *   ranks.
 *
 * Integers wrap around. MIN is a < b ? a : b and MAX a > b ? a : b of some order of the operands,
 * so where one is a NaN the result may be either.
 *
 * @param tm          The team; not a TM-pair.
 * @param root        ToOne: the rank that receives the result. Single-valued.
 * @param dst         Receives the result; the operation's until it is complete. ToOne: ignored on
 *                    ranks other than the root.
 * @param src         The caller's elements, the operation's until it is complete. It may be `dst`,
 *                    of ToAll on all ranks or on none, and does not overlap it otherwise.
 * @param dt          One GEX_DT_... type. Single-valued.
 * @param dt_sz       Bytes of an element: sizeof for a built-in type, any for #GEX_DT_USER.
 *                    Single-valued.
 * @param dt_cnt      Elements. Single-valued. 0: nothing happens, and no member waits.
 * @param op          The operation. Single-valued.
 * @param user_op     The operator of USER and USER_NC; ignored otherwise. It may differ by rank.
 * @param user_cdata  Handed to the operator; may differ by rank.
 * @param flags       0.
 * @return The event.
 * @par Completion
 * The event, which is #GEX_EVENT_INVALID if the caller's part is over already, completes when the
 * source may be written to again and the destination read. It means nothing about other members.
 * @par Errors
 * None is returned. A root that is no rank of the team, a type and operation that do not go
 * together, a wrong size of a type and a null operator end the job with one line. In the checking
 * library so do members whose calls differ: it names them, and begins an operation when all have
 * made the call.
 * @par Context
 * Collective over the team; not in handlers, not while holding an HSL, not in a reduction operator.
 * @par Reproducibility
 * The operands are combined in an order that depends on the team, the ranks and the single-valued
 * arguments only: the same call gives the same result, to the last bit, and on all ranks.
 * @par Example
 * @code
 * double residual = local_residual();
 * gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &residual, &residual, GEX_DT_DBL, sizeof residual, 1,
 *                                       GEX_OP_ADD, NULL, NULL, 0));
 * @endcode
 * @par Specification
 * GASNet-EX, "Collectives Part III. Computational".
 * @see gex_Coll_ReduceFn_t, gex_Coll_BroadcastNB
 */
/**@{*/
/** The result goes to one rank. */
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst,
                                               const void* src, gex_DT_t dt, size_t dt_sz,
                                               size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);

/** The result goes to every rank. */
GEX_EXPORT_ gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                               size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                               gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                               gex_Flags_t flags);
/**@}*/

#ifdef __cplusplus
}
#endif

#include <gex/gasnet1_coll.h>

#endif
