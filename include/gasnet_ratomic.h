/* gasnet_ratomic.h: remote atomics. Spec: "Remote Atomic Operations".
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

/** An atomic domain: a team, a data type and a set of operations. */
typedef struct _gex_AD* gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

/** Makes a domain of `tm`, one GEX_DT_ type and an OR of operations that this type has. Collective
 * over the team, and waits for no other member; `dt`, `ops` and `flags` are single-valued. The
 * checking library ends the job when it has found members that differ. Flags: at most one of
 * GEX_FLAG_AD_FAVOR_{MY_RANK,MY_NBRHD,REMOTE}; others are kept for gex_AD_QueryFlags. Client
 * context. */
GEX_EXPORT_ void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                               gex_Flags_t flags);
/** Ends a domain whose operations are all complete everywhere, before its team ends. Collective; no
 * barrier. Client context. */
GEX_EXPORT_ void gex_AD_Destroy(gex_AD_t ad);

/* What a domain was made with, and its client data. Any context. */
GEX_EXPORT_ gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
GEX_EXPORT_ gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
GEX_EXPORT_ gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
GEX_EXPORT_ gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
GEX_EXPORT_ void gex_AD_SetCData(gex_AD_t ad, const void* val);
GEX_EXPORT_ void* gex_AD_QueryCData(gex_AD_t ad);

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

#ifdef GEX_TWINS_
#define GEX_AD_ENTRY_ GEX_EXPORT_
#else
#define GEX_AD_ENTRY_ GEX_FOLDED_
#endif

/* gex_AD_OpNB_<SUFFIX> and gex_AD_OpNBI_<SUFFIX>: one operation on the aligned object at
 * `tgt_addr`, in the bound segment of a member. `*result_p` receives the old value of fetching
 * operations, by the time the operation is complete; other operations ignore it. The implicit form
 * completes in category PUT (SET), GET (GET) or RMW (all others). GEX_EVENT_NO_OP, and non-zero,
 * only when GEX_FLAG_IMMEDIATE was given and nothing was done. Any thread; not in handlers, not
 * while holding an HSL. Flags:
 *
 * - GEX_FLAG_IMMEDIATE;
 * - GEX_FLAG_AD_MY_RANK asserts that the target is the caller's own endpoint, or
 *   GEX_FLAG_AD_MY_NBRHD that it is in the caller's neighborhood;
 * - GEX_FLAG_AD_REL: what this thread did, and what it has synchronised, comes before;
 * - GEX_FLAG_AD_ACQ: what the thread does that synchronises the operation comes after;
 * - GEX_FLAG_RANK_IS_JOBRANK: `tgt_rank` is a jobrank, of a member;
 * - GEX_FLAG_SELF_SEG_OFFSET: `result_p` is an offset into the caller's bound segment;
 * - GEX_FLAG_PEER_SEG_OFFSET: `tgt_addr` is an offset into the target's. */
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
GEX_AD_DEFINE_(I32, int32_t, uint32_t)
GEX_AD_DEFINE_(U32, uint32_t, uint32_t)
GEX_AD_DEFINE_(I64, int64_t, uint64_t)
GEX_AD_DEFINE_(U64, uint64_t, uint64_t)
GEX_AD_DEFINE_(FLT, float, uint32_t)
GEX_AD_DEFINE_(DBL, double, uint64_t)
#undef GEX_AD_DEFINE_
#endif

#ifdef __cplusplus
}
#endif
#endif
