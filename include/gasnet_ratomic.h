/** @file
 * Remote atomics.
 *
 * An operation of a domain is atomic towards every other of that domain, from any rank and thread.
 * What carries the operations out is chosen for the whole domain when it is made. It is the
 * network, also for targets near by, if it has every operation of the domain on its type, the team
 * reaches beyond one neighborhood, and the flags do not favor operations near by. Else it is the
 * processors' atomic instructions: the caller's own, inline, where it has the target's segment
 * mapped; else those of the target's process, asked by a message. The processors' ways are coherent
 * with one another, and not with a network's.
 *
 * Where the opcode is not constant, an inline call jumps to the instructions of the
 * operation, and its code has some 600 bytes; without optimisation the call goes out of line.
 */
#ifndef _INCLUDED_GASNET_RATOMIC_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_RATOMIC_H

#include <gasnetex.h>
#ifdef GEX_BODIES_
#include <gex/atomic_operations.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Atomic domains
 * Names an atomic domain: a team, a data type and a set of operations, made by gex_AD_Create. The
 * INVALID value is zero.
 * @par Specification
 * GASNet-EX, "Remote Atomic Operations".
 * @see gex_AD_Create
 */
/**@{*/
typedef struct _gex_AD* gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)
/**@}*/

/** Makes an atomic domain.
 *
 * Memory that operations of the domain have under way is accessed by nothing else: neither by
 * operations of other domains, nor by puts, gets and the processor's instructions.
 *
 * @param ad_p   Receives the domain, before the call returns.
 * @param tm     The team that the targets belong to; not a TM-pair.
 * @param dt     One GEX_DT_... type; not #GEX_DT_USER. Single-valued.
 * @param ops    An OR of the GEX_OP_... operations that will be used, all of which the type has:
 *               AND, OR, XOR and their fetching forms are for integers. Single-valued.
 * @param flags  0 or one of #GEX_FLAG_AD_FAVOR_MY_RANK, #GEX_FLAG_AD_FAVOR_MY_NBRHD and
 *               #GEX_FLAG_AD_FAVOR_REMOTE. Single-valued.
 * @par Errors
 * A type and operations that do not go together end the job with one line; in the checking library
 * so do members that differ.
 * @par Context
 * Collective over the team; waits for no other member. Not in handlers.
 * @par Example
 * @code
 * gex_AD_t counters;
 * gex_AD_Create(&counters, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Remote Atomic Operations".
 * @see gex_AD_OpNB_U64, gex_AD_Destroy
 */
GEX_EXPORT_ void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                               gex_Flags_t flags);
/** Ends an atomic domain.
 *
 * @param ad  The domain. Its operations are complete on all members, and its team still exists.
 * @par Context
 * Collective over the domain's team; no barrier. Not in handlers.
 * @par Example
 * @code
 * gex_Coll_BarrierBlocking(gex_AD_QueryTM(counters), 0);
 * gex_AD_Destroy(counters);
 * @endcode
 * @par Specification
 * GASNet-EX, "Remote Atomic Operations".
 * @see gex_AD_Create
 */
GEX_EXPORT_ void gex_AD_Destroy(gex_AD_t ad);

/** @name What an atomic domain is
 * Return what a domain was made with, and keep one pointer of the client's with it.
 *
 * @param ad   The domain.
 * @param val  The client's pointer; NULL at first.
 * @return The flags, the team, the type and the operations given to gex_AD_Create; the pointer that
 *         was last set.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * gex_Rank_t members = gex_TM_QuerySize(gex_AD_QueryTM(counters));
 * @endcode
 * @par Specification
 * GASNet-EX, "Remote Atomic Operations".
 * @see gex_AD_Create
 */
/**@{*/
GEX_EXPORT_ gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
GEX_EXPORT_ gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
GEX_EXPORT_ gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
GEX_EXPORT_ gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
GEX_EXPORT_ void gex_AD_SetCData(gex_AD_t ad, const void* val);
GEX_EXPORT_ void* gex_AD_QueryCData(gex_AD_t ad);
/**@}*/

/* The general forms of gex_AD_OpNB_ and gex_AD_OpNBI_; operands as in gex/atomic_operations.h. */
GEX_EXPORT_ gex_Event_t gex_ad_nb_(gex_AD_t ad, gex_DT_t type, void* result_p, gex_Rank_t tgt_rank,
                                   void* tgt_addr, gex_OP_t opcode, uint64_t operand1,
                                   uint64_t operand2, gex_Flags_t flags);
GEX_EXPORT_ int gex_ad_nbi_(gex_AD_t ad, gex_DT_t type, void* result_p, gex_Rank_t tgt_rank,
                            void* tgt_addr, gex_OP_t opcode, uint64_t operand1, uint64_t operand2,
                            gex_Flags_t flags);

#ifdef GEX_BODIES_
/* Flags with which an address is not one in the target's bound segment, or the result's is not one
 * of this process. */
#define GEX_AD_OUT_OF_LINE_ (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET)

/* Performs the operation if its target is mapped here; else returns 0, and the call goes out of
 * line. */
GEX_FOLDED_ int gex_ad_direct_(gex_AD_t ad, gex_DT_t type, void* result_p, gex_Rank_t tgt_rank,
                               void* tgt_addr, gex_OP_t opcode, uint64_t operand1,
                               uint64_t operand2, gex_Flags_t flags) {
  intptr_t displacement = 0;
  if (GEX_UNLIKELY_(!GEX_IS_READABLE_DOMAIN_(ad))) return 0;
  if (!(__builtin_constant_p(flags) && (flags & GEX_FLAG_AD_MY_RANK))) {
    const size_t by_jobrank = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
    displacement = GEX_DOMAIN_DISPLACEMENT_(ad)[2 * (size_t)tgt_rank + by_jobrank];
  }
  /* One test of the displacement and the flags together, as GEX_RMA_DIRECT_. */
  if (GEX_UNLIKELY_((displacement | (intptr_t)flags) &
                    (GEX_NOT_MAPPED_ | (intptr_t)GEX_AD_OUT_OF_LINE_)))
    return 0;
  tgt_addr = (char*)tgt_addr + displacement;
  if (__builtin_constant_p(opcode)) {
    gex_ad_perform_(type, result_p, tgt_addr, opcode, operand1, operand2, flags);
    return 1;
  }
#ifdef __OPTIMIZE__
  return gex_ad_perform_any_(type, result_p, tgt_addr, opcode, operand1, operand2, flags);
#else
  return 0; /* every call would contain all operations, unfolded */
#endif
}

#if defined(GEX_TWINS_) || defined(GEX_CALL_TWINS_)
#define GEX_AD_ENTRY_ GEX_INLINE_
#else
#define GEX_AD_ENTRY_ GEX_FOLDED_
#endif

/* The functions of one type: gex_AD_OpNB_<SUFFIX> and gex_AD_OpNBI_<SUFFIX>. */
#define GEX_AD_DEFINE_(SUFFIX, type, word)                                                         \
  GEX_FOLDED_ uint64_t gex_ad_bits_##SUFFIX##_(type value) {                                       \
    word bits;                                                                                     \
    memcpy(&bits, &value, sizeof bits);                                                            \
    return bits;                                                                                   \
  }                                                                                                \
  GEX_AD_ENTRY_ gex_Event_t gex_AD_OpNB_##SUFFIX(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank, \
                                                 void* tgt_addr, gex_OP_t opcode, type operand1,   \
                                                 type operand2, gex_Flags_t flags) {               \
    const uint64_t bits1 = gex_ad_bits_##SUFFIX##_(operand1);                                      \
    const uint64_t bits2 = gex_ad_bits_##SUFFIX##_(operand2);                                      \
    if (GEX_LIKELY_(gex_ad_direct_(ad, GEX_DT_##SUFFIX, result_p, tgt_rank, tgt_addr, opcode,      \
                                   bits1, bits2, flags)))                                          \
      return GEX_EVENT_INVALID;                                                                    \
    return gex_ad_nb_(ad, GEX_DT_##SUFFIX, result_p, tgt_rank, tgt_addr, opcode, bits1, bits2,     \
                      flags);                                                                      \
  }                                                                                                \
  GEX_AD_ENTRY_ int gex_AD_OpNBI_##SUFFIX(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank,        \
                                          void* tgt_addr, gex_OP_t opcode, type operand1,          \
                                          type operand2, gex_Flags_t flags) {                      \
    const uint64_t bits1 = gex_ad_bits_##SUFFIX##_(operand1);                                      \
    const uint64_t bits2 = gex_ad_bits_##SUFFIX##_(operand2);                                      \
    if (GEX_LIKELY_(gex_ad_direct_(ad, GEX_DT_##SUFFIX, result_p, tgt_rank, tgt_addr, opcode,      \
                                   bits1, bits2, flags)))                                          \
      return 0;                                                                                    \
    return gex_ad_nbi_(ad, GEX_DT_##SUFFIX, result_p, tgt_rank, tgt_addr, opcode, bits1, bits2,    \
                       flags);                                                                     \
  }
/** @name Atomic operations
 * Performs one atomic operation on an object in the segment of a member.
 *
 * There is a pair of functions for each type: `type` below is int32_t for I32, uint32_t for U32,
 * int64_t for I64, uint64_t for U64, float for FLT and double for DBL. Integers wrap around. CAS
 * compares bits, so that 0.0 and -0.0 differ, and never fails without cause. MIN and MAX of a NaN
 * and a number are the operand.
 *
 * @par Synopsis
 * @code
 * gex_Event_t gex_AD_OpNB_[TYPE](gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
 *                                gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags);
 * int gex_AD_OpNBI_[TYPE](gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr,
 *                         gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags);
 * @endcode
 *
 * @param ad        The domain, of that type.
 * @param result_p  Receives the old value of a fetching operation, by the time the operation is
 *                  complete; any aligned memory of this process until then. Other operations ignore
 *                  it. With #GEX_FLAG_SELF_SEG_OFFSET an offset into the caller's bound segment.
 * @param tgt_rank  A rank of the domain's team, or with #GEX_FLAG_RANK_IS_JOBRANK the jobrank of a
 *                  member.
 * @param tgt_addr  The object, aligned to its size, in the target's bound segment: an address of
 *                  the owner, or with #GEX_FLAG_PEER_SEG_OFFSET an offset into the segment.
 * @param opcode    One operation of the domain.
 * @param operand1  The first operand; ignored by INC, DEC and GET.
 * @param operand2  The second operand; of CAS only.
 * @param flags     0 or an OR of #GEX_FLAG_IMMEDIATE, #GEX_FLAG_AD_MY_RANK or
 *                  #GEX_FLAG_AD_MY_NBRHD, #GEX_FLAG_AD_ACQ, #GEX_FLAG_AD_REL,
 *                  #GEX_FLAG_RANK_IS_JOBRANK, #GEX_FLAG_SELF_SEG_OFFSET, #GEX_FLAG_PEER_SEG_OFFSET.
 * @return OpNB: an event, #GEX_EVENT_INVALID if the operation is complete already. OpNBI: 0; the
 *         operation counts in category #GEX_EC_PUT (SET), #GEX_EC_GET (GET) or #GEX_EC_RMW (all
 *         others). With #GEX_FLAG_IMMEDIATE #GEX_EVENT_NO_OP or non-zero if nothing was started.
 * @par Ordering and visibility
 * Operations under way are not ordered, not even on one object. With #GEX_FLAG_AD_REL the operation
 * comes after what this thread did before, and what it had synchronised. With #GEX_FLAG_AD_ACQ what
 * the thread does that synchronises the operation comes after it. Without them only the object
 * itself is ordered.
 * @par Errors
 * None is returned. The checking library ends the job with one line for an operation that the
 * domain does not have, another type, and an object outside the segment or not aligned.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * uint64_t ticket;
 * gex_Event_Wait(gex_AD_OpNB_U64(counters, &ticket, 0, next, GEX_OP_FADD, 1, 0, 0));
 * @endcode
 * @par Specification
 * GASNet-EX, "Remote Atomic Operations".
 * @see gex_AD_Create, gex_Event_Wait, gex_NBI_Wait
 */
/**@{*/
GEX_AD_DEFINE_(I32, int32_t, uint32_t)
GEX_AD_DEFINE_(U32, uint32_t, uint32_t)
GEX_AD_DEFINE_(I64, int64_t, uint64_t)
GEX_AD_DEFINE_(U64, uint64_t, uint64_t)
GEX_AD_DEFINE_(FLT, float, uint32_t)
GEX_AD_DEFINE_(DBL, double, uint64_t)
/**@}*/
#undef GEX_AD_DEFINE_
#endif

#ifdef GEX_DECLARATIONS_
#define GEX_OP_NB_(name, type)                                                                   \
  GEX_EXPORT_ gex_Event_t name(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank, void* tgt_addr, \
                               gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags);
#define GEX_OP_NBI_(name, type)                                                          \
  GEX_EXPORT_ int name(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank, void* tgt_addr, \
                       gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags);
GEX_OP_NB_(gex_AD_OpNB_I32, int32_t)
GEX_OP_NBI_(gex_AD_OpNBI_I32, int32_t)
GEX_OP_NB_(gex_AD_OpNB_U32, uint32_t)
GEX_OP_NBI_(gex_AD_OpNBI_U32, uint32_t)
GEX_OP_NB_(gex_AD_OpNB_I64, int64_t)
GEX_OP_NBI_(gex_AD_OpNBI_I64, int64_t)
GEX_OP_NB_(gex_AD_OpNB_U64, uint64_t)
GEX_OP_NBI_(gex_AD_OpNBI_U64, uint64_t)
GEX_OP_NB_(gex_AD_OpNB_FLT, float)
GEX_OP_NBI_(gex_AD_OpNBI_FLT, float)
GEX_OP_NB_(gex_AD_OpNB_DBL, double)
GEX_OP_NBI_(gex_AD_OpNBI_DBL, double)
#endif

#ifdef __cplusplus
}
#endif

#endif
