/* gasnet_ratomic.h: remote atomics. Spec: "Remote Atomic Operations".
 *
 * The interface is declared whole. This release of libgex does not define its functions yet: a
 * program that calls one does not link, and the linker names it.
 */
#ifndef _INCLUDED_GASNET_RATOMIC_H
#define _INCLUDED_GASNET_RATOMIC_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An atomic domain: a team, a data type and a set of operations. */
typedef struct _gex_AD* gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

/** Makes a domain. Collective over the team. Flags: GEX_FLAG_AD_FAVOR_... */
GEX_EXPORT_ void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                               gex_Flags_t flags);
/** Ends a domain whose operations are all complete everywhere. Collective. */
GEX_EXPORT_ void gex_AD_Destroy(gex_AD_t ad);

/* What a domain was made with, and its client data. Any context. */
GEX_EXPORT_ gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
GEX_EXPORT_ gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
GEX_EXPORT_ gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
GEX_EXPORT_ gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
GEX_EXPORT_ void gex_AD_SetCData(gex_AD_t ad, const void* val);
GEX_EXPORT_ void* gex_AD_QueryCData(gex_AD_t ad);

/* One operation on the aligned object at `tgt_addr` of a member. `result_p` receives the old value
 * of fetching operations. Implicit forms complete in category PUT (SET), GET (GET) or RMW. */
#define GEX_AD_DECLARE_(SUFFIX, type)                                                            \
  GEX_EXPORT_ gex_Event_t gex_AD_OpNB_##SUFFIX(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank, \
                                               void* tgt_addr, gex_OP_t opcode, type operand1,   \
                                               type operand2, gex_Flags_t flags);                \
  GEX_EXPORT_ int gex_AD_OpNBI_##SUFFIX(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank,        \
                                        void* tgt_addr, gex_OP_t opcode, type operand1,          \
                                        type operand2, gex_Flags_t flags);
GEX_AD_DECLARE_(I32, int32_t)
GEX_AD_DECLARE_(U32, uint32_t)
GEX_AD_DECLARE_(I64, int64_t)
GEX_AD_DECLARE_(U64, uint64_t)
GEX_AD_DECLARE_(FLT, float)
GEX_AD_DECLARE_(DBL, double)
#undef GEX_AD_DECLARE_

#ifdef __cplusplus
}
#endif
#endif
