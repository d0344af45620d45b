/** @file
 * The types and constants of GASNet-EX that other headers may need by themselves.
 *
 * Includable anywhere, with no threading mode defined; defines no macros but GEX_... and _GEX_...
 * Flag bits of one call are disjoint; calls that are unrelated may share bits. Constants of integer
 * types are preprocessor expressions, here and in all headers: clients use them in `#if`.
 */
#ifndef _GEX_GASNET_FWD_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _GEX_GASNET_FWD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Ranks
 * A position in, or the size of, an ordered set of processes or endpoints.
 *
 * Ranks count from 0. A rank means something together with what it is a rank of: a team, the job.
 * @par Specification
 * GASNet-EX, "Basic types".
 * @see gex_TM_QueryRank, gex_System_QueryJobRank
 */
/**@{*/
typedef uint32_t gex_Rank_t;
/** "Not a rank"; larger than any rank. */
#define GEX_RANK_INVALID 0xffffffffu
/**@}*/

/** Index of an endpoint within its client and process; the primordial endpoint's is 0.
 * @see gex_EP_QueryIndex, gex_TM_Pair
 */
typedef uint16_t gex_EP_Index_t;

/** Names an endpoint of a client: the process it lives in and its index there.
 * @see gex_TM_Create, gex_TM_TranslateRankToEP
 */
typedef struct gex_EP_Location_t {
  gex_Rank_t gex_rank;         /**< A rank of the team in question, or a jobrank. */
  gex_EP_Index_t gex_ep_index; /**< The index there. */
} gex_EP_Location_t;

/** Modifiers of a call: 0 or an OR of GEX_FLAG_...
 *
 * Which flags a call takes is part of its description. The checking library refuses others.
 * @see GEX_FLAG_IMMEDIATE, GEX_FLAG_TM_NO_SCRATCH, GEX_FLAG_USES_GASNET1, GEX_FLAG_AM_SHORT
 */
typedef uint32_t gex_Flags_t;

/** An address, or with the matching flag an offset in bytes into a bound segment.
 * @see gex_TM_Create, gex_Segment_Create
 */
typedef void* gex_Addr_t;

/** @name Capabilities of endpoints
 * What an endpoint can be used for: puts and gets, active messages, non-contiguous transfers,
 * collectives, atomics.
 *
 * An endpoint is used for what it was made for; the primordial endpoint has all capabilities.
 * @see gex_EP_Create
 */
/**@{*/
/** An OR of GEX_EP_CAPABILITY_... */
typedef uint32_t gex_EP_Capabilities_t;
#define GEX_EP_CAPABILITY_RMA (1u << 0)
#define GEX_EP_CAPABILITY_AM (1u << 1)
#define GEX_EP_CAPABILITY_VIS (1u << 2)
#define GEX_EP_CAPABILITY_COLL (1u << 3)
#define GEX_EP_CAPABILITY_AD (1u << 4)
#define GEX_EP_CAPABILITY_ALL 0x1fu
/**@}*/

/** @name Events
 * Handles of what will have completed, and the values that stand for one.
 *
 * An operation has a root event and may have leaves, for parts that complete earlier. The handle is
 * a value of pointer size.
 * @par Specification
 * GASNet-EX, "Events".
 * @see gex_Event_Wait, gex_Event_QueryLeaf
 */
/**@{*/
/** A root event, or one of its leaves. */
typedef struct _gex_Event* gex_Event_t;
/** Already complete. Zero. */
#define GEX_EVENT_INVALID ((gex_Event_t)0)
/** An immediate call did nothing. Not to be given to test or wait. */
#define GEX_EVENT_NO_OP ((gex_Event_t)(uintptr_t)1)
/** In place of a gex_Event_t*: complete this leaf before the call returns. */
#define GEX_EVENT_NOW ((gex_Event_t*)(uintptr_t)1)
/** In place of a gex_Event_t*: this leaf may complete as late as its root. */
#define GEX_EVENT_DEFER ((gex_Event_t*)(uintptr_t)2)
/** In place of a gex_Event_t*: count this leaf in the thread's (or region's) NBI category. */
#define GEX_EVENT_GROUP ((gex_Event_t*)(uintptr_t)3)
/**@}*/

/** @name Flags of communication
 * Modifiers of puts, gets, messages, non-contiguous transfers and atomics. At most one each of the
 * SELF_SEG and the PEER_SEG flags may be given. The description of a
 * call lists those that it takes. Flags that assert something let the library take a shorter way,
 * if they are constants.
 * @see gex_RMA_PutNB, gex_AM_RequestMedium, gex_VIS_StridedPutNB, gex_AD_OpNB_U64
 */
/**@{*/
/** Do not wait for room: return #GEX_EVENT_NO_OP or non-zero, with nothing started. */
#define GEX_FLAG_IMMEDIATE (1u << 0)
/** Copy the source, so that local completion comes sooner. Not with LC_COPY_NO. */
#define GEX_FLAG_LC_COPY_YES (1u << 1)
/** Send from the source itself. */
#define GEX_FLAG_LC_COPY_NO (1u << 2)
/** Where local memory is, is not known; the default. */
#define GEX_FLAG_SELF_SEG_UNKNOWN (1u << 3)
/** Local memory is in some segment of this process. */
#define GEX_FLAG_SELF_SEG_SOME (1u << 4)
/** Local memory is in the segment bound to the caller's endpoint. */
#define GEX_FLAG_SELF_SEG_BOUND (1u << 5)
/** The local address is an offset into that segment. */
#define GEX_FLAG_SELF_SEG_OFFSET (1u << 6)
/** Where remote memory is, is not stated; it must be in the bound segment all the same. */
#define GEX_FLAG_PEER_SEG_UNKNOWN (1u << 7)
/** Remote memory is in some segment; it must be in the bound one all the same. */
#define GEX_FLAG_PEER_SEG_SOME (1u << 8)
/** Remote memory is in the segment bound to the peer's endpoint; the default. */
#define GEX_FLAG_PEER_SEG_BOUND (1u << 9)
/** The remote address is an offset into that segment. */
#define GEX_FLAG_PEER_SEG_OFFSET (1u << 10)
/** gex_AM_MaxRequestMedium and its kind: of Prepare, with a buffer of the client's. */
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
/** gex_AM_MaxRequestMedium and its kind: of Prepare, with a buffer of the library's. */
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC (1u << 12)
/** The peer is not this process, which the checking library checks. */
#define GEX_FLAG_PEER_NEVER_SELF (1u << 13)
/** The peer is not in this process's neighborhood, which is checked in the same way. */
#define GEX_FLAG_PEER_NEVER_NBRHD (1u << 14)
/** Non-contiguous puts: local completion of the payload can be learnt of. */
#define GEX_FLAG_ENABLE_LEAF_LC (1u << 15)
/** Atomics: the target is the caller's own endpoint. */
#define GEX_FLAG_AD_MY_RANK (1u << 16)
/** Atomics: the target is in the caller's neighborhood. */
#define GEX_FLAG_AD_MY_NBRHD (1u << 17)
/** Atomics: an acquire fence, see gex_AD_OpNB_U64. */
#define GEX_FLAG_AD_ACQ (1u << 18)
/** Atomics: a release fence, see gex_AD_OpNB_U64. */
#define GEX_FLAG_AD_REL (1u << 19)
/** Atomics and gex_TM_Create: the rank is a jobrank. */
#define GEX_FLAG_RANK_IS_JOBRANK (1u << 20)
/**@}*/

/** @name Flags of atomic domains
 * Which targets an atomic domain is made for; at most one.
 * @see gex_AD_Create
 */
/**@{*/
/** Most targets are the caller's own. */
#define GEX_FLAG_AD_FAVOR_MY_RANK (1u << 21)
/** Most targets are in the caller's neighborhood. */
#define GEX_FLAG_AD_FAVOR_MY_NBRHD (1u << 22)
/** Most targets are elsewhere. */
#define GEX_FLAG_AD_FAVOR_REMOTE (1u << 23)
/**@}*/

/** @name Flags of teams
 * Modifiers of the calls that make and end teams.
 * @see gex_TM_Split, gex_TM_Create, gex_TM_Destroy
 */
/**@{*/
/** The team gets no scratch memory. */
#define GEX_FLAG_TM_NO_SCRATCH (1u << 21)
/** One address for each local member. */
#define GEX_FLAG_TM_LOCAL_SCRATCH (1u << 22)
/** One address for each member. */
#define GEX_FLAG_TM_GLOBAL_SCRATCH (1u << 23)
/** One address for all members. */
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH (1u << 24)
/** Scratch addresses are offsets into the bound segment. */
#define GEX_FLAG_SCRATCH_SEG_OFFSET (1u << 25)
/** A query for the least scratch; deprecated. */
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN (1u << 26)
/** A query for the scratch to give. */
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 27)
/** gex_TM_Destroy: no member has anything left to do on the team. */
#define GEX_FLAG_GLOBALLY_QUIESCED (1u << 28)
/**@}*/

/** @name Flags of clients
 * Modifiers of gex_Client_Init.
 * @see gex_Client_Init
 */
/**@{*/
/** The client makes calls of GASNet-1, too. */
#define GEX_FLAG_USES_GASNET1 (1u << 29)
/** The client starts progress threads itself (gex_System_QueryProgressThreads). */
#define GEX_FLAG_DEFER_THREADS (1u << 30)
/**@}*/

/** @name Flags of endpoints
 * Hints to gex_EP_Create, which have nothing to choose in this library.
 * @see gex_EP_Create
 */
/**@{*/
/** The endpoint will be used for atomics. */
#define GEX_FLAG_HINT_ACCEL_AD (1u << 16)
/** The endpoint will be used for collectives. */
#define GEX_FLAG_HINT_ACCEL_COLL (1u << 17)
/** Both. */
#define GEX_FLAG_HINT_ACCEL_ALL (3u << 16)
/**@}*/

/** @name Flags of handlers
 * For which messages a handler is registered: one category, short, medium, long, or both of the
 * last (MEDLONG); and one direction, requests, replies, or both (REQREP).
 * @see gex_AM_Entry_t, gex_EP_RegisterHandlers
 */
/**@{*/
#define GEX_FLAG_AM_SHORT (1u << 0)
#define GEX_FLAG_AM_MEDIUM (1u << 1)
#define GEX_FLAG_AM_LONG (1u << 2)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 3)
#define GEX_FLAG_AM_REPLY (1u << 4)
#define GEX_FLAG_AM_REQREP (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)
/**@}*/

/** @name Data types
 * The type of the operands of atomics and reductions: signed and unsigned integers of 32 and 64
 * bits, float, double, and for reductions a type of the client's.
 * @par Specification
 * GASNet-EX, "Data types".
 * @see gex_AD_Create, gex_Coll_ReduceToAllNB
 */
/**@{*/
/** One of GEX_DT_..., or an OR of them. */
typedef uint32_t gex_DT_t;
#define GEX_DT_I32 (1u << 0)
#define GEX_DT_U32 (1u << 1)
#define GEX_DT_I64 (1u << 2)
#define GEX_DT_U64 (1u << 3)
#define GEX_DT_FLT (1u << 4)
#define GEX_DT_DBL (1u << 5)
#define GEX_DT_USER (1u << 6)
/**@}*/

/** @name Operations
 * What atomics and reductions do with a value at the target and one or two operands.
 *
 * With op0 for the old value at the target: AND, OR and XOR (integers), ADD, SUB, MULT, MIN and MAX
 * combine it with the first operand, INC and DEC add and subtract 1; SET writes the first operand;
 * CAS writes the second operand if op0 is the first; GET writes nothing. The forms with F, SWAP and
 * GET return op0 as well. USER and USER_NC are operators of the client's, for reductions.
 *
 * @param op  Of TO_FETCHING and TO_NONFETCHING: one operation.
 * @par Specification
 * GASNet-EX, "Operation codes".
 * @see gex_AD_OpNB_U64, gex_Coll_ReduceToAllNB
 */
/**@{*/
/** One of GEX_OP_..., or an OR of them. */
typedef uint32_t gex_OP_t;
#define GEX_OP_AND (1u << 0)
#define GEX_OP_OR (1u << 1)
#define GEX_OP_XOR (1u << 2)
#define GEX_OP_ADD (1u << 3)
#define GEX_OP_SUB (1u << 4)
#define GEX_OP_MULT (1u << 5)
#define GEX_OP_MIN (1u << 6)
#define GEX_OP_MAX (1u << 7)
#define GEX_OP_INC (1u << 8)
#define GEX_OP_DEC (1u << 9)
#define GEX_OP_SET (1u << 10)
#define GEX_OP_CAS (1u << 11)
/** The fetching opcode of a non-fetching one (SET gives SWAP), and back. */
#define GEX_OP_TO_FETCHING(op) ((0u | (op)) << 12)
#define GEX_OP_TO_NONFETCHING(op) ((0u | (op)) >> 12)
#define GEX_OP_FAND GEX_OP_TO_FETCHING(GEX_OP_AND)
#define GEX_OP_FOR GEX_OP_TO_FETCHING(GEX_OP_OR)
#define GEX_OP_FXOR GEX_OP_TO_FETCHING(GEX_OP_XOR)
#define GEX_OP_FADD GEX_OP_TO_FETCHING(GEX_OP_ADD)
#define GEX_OP_FSUB GEX_OP_TO_FETCHING(GEX_OP_SUB)
#define GEX_OP_FMULT GEX_OP_TO_FETCHING(GEX_OP_MULT)
#define GEX_OP_FMIN GEX_OP_TO_FETCHING(GEX_OP_MIN)
#define GEX_OP_FMAX GEX_OP_TO_FETCHING(GEX_OP_MAX)
#define GEX_OP_FINC GEX_OP_TO_FETCHING(GEX_OP_INC)
#define GEX_OP_FDEC GEX_OP_TO_FETCHING(GEX_OP_DEC)
#define GEX_OP_SWAP GEX_OP_TO_FETCHING(GEX_OP_SET)
#define GEX_OP_FCAS GEX_OP_TO_FETCHING(GEX_OP_CAS)
#define GEX_OP_CSWAP GEX_OP_FCAS
#define GEX_OP_GET (1u << 24)
#define GEX_OP_USER (1u << 25)
#define GEX_OP_USER_NC (1u << 26)
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
