/* gasnet_fwd.h: the types and constants of GASNet-EX that other headers may need by themselves.
 *
 * Includable anywhere, with no threading mode defined; defines no macros but GEX_... and _GEX_...
 * Spec: GASNet-EX 0.19, "Basic types", "Events", the flag sections, "Data types" and "Operation
 * codes". Flag bits of one call are disjoint; calls that are unrelated may share bits. Constants of
 * integer types are preprocessor expressions, here and in all headers: clients use them in #if.
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

/** A position in, or the size of, an ordered set of processes or endpoints. */
typedef uint32_t gex_Rank_t;
/** "Not a rank"; larger than any rank. */
#define GEX_RANK_INVALID 0xffffffffu

/** Index of an endpoint within its client and process; the primordial endpoint's is 0. */
typedef uint16_t gex_EP_Index_t;

/** Names an endpoint of a client: the process it lives in and its index there. */
typedef struct gex_EP_Location_t {
  gex_Rank_t gex_rank;
  gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

/** Modifiers of a call: an OR of GEX_FLAG_... */
typedef uint32_t gex_Flags_t;

/** An address, or with the matching flag an offset into a bound segment. */
typedef void* gex_Addr_t;

/** What an endpoint can be used for: an OR of GEX_EP_CAPABILITY_... */
typedef uint32_t gex_EP_Capabilities_t;
#define GEX_EP_CAPABILITY_RMA (1u << 0)
#define GEX_EP_CAPABILITY_AM (1u << 1)
#define GEX_EP_CAPABILITY_VIS (1u << 2)
#define GEX_EP_CAPABILITY_COLL (1u << 3)
#define GEX_EP_CAPABILITY_AD (1u << 4)
#define GEX_EP_CAPABILITY_ALL 0x1fu

/** A handle of something that will have completed: a root event, or one of its leaves. */
typedef struct _gex_Event* gex_Event_t;
/** Already complete. Zero. */
#define GEX_EVENT_INVALID ((gex_Event_t)0)
/** An IMMEDIATE call did nothing. Not to be given to test or wait. */
#define GEX_EVENT_NO_OP ((gex_Event_t)(uintptr_t)1)
/** In place of a gex_Event_t*: complete this leaf before the call returns. */
#define GEX_EVENT_NOW ((gex_Event_t*)(uintptr_t)1)
/** In place of a gex_Event_t*: this leaf may complete as late as its root. */
#define GEX_EVENT_DEFER ((gex_Event_t*)(uintptr_t)2)
/** In place of a gex_Event_t*: count this leaf in the thread's (or region's) NBI category. */
#define GEX_EVENT_GROUP ((gex_Event_t*)(uintptr_t)3)

/* Point-to-point initiation: RMA, AM, VIS and atomics. */
#define GEX_FLAG_IMMEDIATE (1u << 0)
#define GEX_FLAG_LC_COPY_YES (1u << 1)
#define GEX_FLAG_LC_COPY_NO (1u << 2)
#define GEX_FLAG_SELF_SEG_UNKNOWN (1u << 3)
#define GEX_FLAG_SELF_SEG_SOME (1u << 4)
#define GEX_FLAG_SELF_SEG_BOUND (1u << 5)
#define GEX_FLAG_SELF_SEG_OFFSET (1u << 6)
#define GEX_FLAG_PEER_SEG_UNKNOWN (1u << 7)
#define GEX_FLAG_PEER_SEG_SOME (1u << 8)
#define GEX_FLAG_PEER_SEG_BOUND (1u << 9)
#define GEX_FLAG_PEER_SEG_OFFSET (1u << 10)
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC (1u << 12)
#define GEX_FLAG_PEER_NEVER_SELF (1u << 13)
#define GEX_FLAG_PEER_NEVER_NBRHD (1u << 14)
#define GEX_FLAG_ENABLE_LEAF_LC (1u << 15)
#define GEX_FLAG_AD_MY_RANK (1u << 16)
#define GEX_FLAG_AD_MY_NBRHD (1u << 17)
#define GEX_FLAG_AD_ACQ (1u << 18)
#define GEX_FLAG_AD_REL (1u << 19)
#define GEX_FLAG_RANK_IS_JOBRANK (1u << 20)

/* gex_AD_Create */
#define GEX_FLAG_AD_FAVOR_MY_RANK (1u << 21)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD (1u << 22)
#define GEX_FLAG_AD_FAVOR_REMOTE (1u << 23)

/* Teams: gex_TM_Split, gex_TM_Create, gex_TM_Destroy */
#define GEX_FLAG_TM_NO_SCRATCH (1u << 21)
#define GEX_FLAG_TM_LOCAL_SCRATCH (1u << 22)
#define GEX_FLAG_TM_GLOBAL_SCRATCH (1u << 23)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH (1u << 24)
#define GEX_FLAG_SCRATCH_SEG_OFFSET (1u << 25)
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN (1u << 26)
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 27)
#define GEX_FLAG_GLOBALLY_QUIESCED (1u << 28)

/* gex_Client_Init */
#define GEX_FLAG_USES_GASNET1 (1u << 29)
#define GEX_FLAG_DEFER_THREADS (1u << 30)

/* gex_EP_Create */
#define GEX_FLAG_HINT_ACCEL_AD (1u << 16)
#define GEX_FLAG_HINT_ACCEL_COLL (1u << 17)
#define GEX_FLAG_HINT_ACCEL_ALL (3u << 16)

/* Handler registration (gex_AM_Entry_t): one of each group. */
#define GEX_FLAG_AM_SHORT (1u << 0)
#define GEX_FLAG_AM_MEDIUM (1u << 1)
#define GEX_FLAG_AM_LONG (1u << 2)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 3)
#define GEX_FLAG_AM_REPLY (1u << 4)
#define GEX_FLAG_AM_REQREP (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/** A data type of atomics and reductions; the values may be ORed. */
typedef uint32_t gex_DT_t;
#define GEX_DT_I32 (1u << 0)
#define GEX_DT_U32 (1u << 1)
#define GEX_DT_I64 (1u << 2)
#define GEX_DT_U64 (1u << 3)
#define GEX_DT_FLT (1u << 4)
#define GEX_DT_DBL (1u << 5)
#define GEX_DT_USER (1u << 6)

/** An operation of atomics and reductions; the values may be ORed. */
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

#ifdef __cplusplus
}
#endif
#endif
