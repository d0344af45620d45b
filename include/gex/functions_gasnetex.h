/* The calls of gasnetex.h as functions and nothing else: part of gex/functions.h. */
#ifndef GEX_FUNCTIONS_GASNETEX_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_FUNCTIONS_GASNETEX_H_

#include <gex/am_families.h>
#include <gex/event.h>
#include <gex/hsl.h>
#include <gex/objects.h>
#include <gex/poll.h>
#include <gex/rma.h>
#include <gex/system.h>

#ifdef GEX_DECLARATIONS_

#ifdef __cplusplus
extern "C" {
#endif

/* gex/system.h */
GEX_EXPORT_ gex_Rank_t gex_System_QueryJobRank(void);
GEX_EXPORT_ gex_Rank_t gex_System_QueryJobSize(void);

/* gex/objects.h */
GEX_EXPORT_ gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);
GEX_EXPORT_ gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);

/* gex/event.h */
GEX_EXPORT_ int gex_Event_Test(gex_Event_t event);
GEX_EXPORT_ void gex_Event_Wait(gex_Event_t event);

/* gex/hsl.h */
GEX_EXPORT_ void gex_HSL_Lock(gex_HSL_t* hsl);
GEX_EXPORT_ void gex_HSL_Unlock(gex_HSL_t* hsl);
GEX_EXPORT_ int gex_HSL_Trylock(gex_HSL_t* hsl);

/* gex/poll.h */
GEX_EXPORT_ int gasnet_AMPoll(void);

/* gex/rma.h */
GEX_EXPORT_ int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                    size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                               size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                      size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags);
GEX_EXPORT_ int gex_RMA_GetBlocking(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                    size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_RMA_GetNBI(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                               gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                      size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* src,
                                                   size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                       gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                         gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);

/* gex/am_families.h. Here and below each name stands by itself, made by no ##, because some
 * generators of bindings miss a function whose name is pasted. `arguments` begins with a comma. */
#define GEX_REQUEST_SHORT_(name, arguments)                                  \
  GEX_EXPORT_ int name(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, \
                       gex_Flags_t flags arguments);
#define GEX_REQUEST_MEDIUM_(name, arguments)                                        \
  GEX_EXPORT_ int name(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,        \
                       const void* source_addr, size_t nbytes, gex_Event_t* lc_opt, \
                       gex_Flags_t flags arguments);
#define GEX_REQUEST_LONG_(name, arguments)                                      \
  GEX_EXPORT_ int name(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,    \
                       const void* source_addr, size_t nbytes, void* dest_addr, \
                       gex_Event_t* lc_opt, gex_Flags_t flags arguments);
#define GEX_REPLY_SHORT_(name, arguments) \
  GEX_EXPORT_ int name(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags arguments);
#define GEX_REPLY_MEDIUM_(name, arguments)                                                 \
  GEX_EXPORT_ int name(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr, \
                       size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags arguments);
#define GEX_REPLY_LONG_(name, arguments)                                                   \
  GEX_EXPORT_ int name(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr, \
                       size_t nbytes, void* dest_addr, gex_Event_t* lc_opt,                \
                       gex_Flags_t flags arguments);
#define GEX_COMMIT_MEDIUM_(name, name_v2, arguments)                                           \
  GEX_EXPORT_ void name(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes arguments); \
  GEX_EXPORT_ int name_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,          \
                          gex_Flags_t commit_flags arguments);
#define GEX_COMMIT_LONG_(name, name_v2, arguments)                                    \
  GEX_EXPORT_ void name(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,   \
                        void* dest_addr arguments);                                   \
  GEX_EXPORT_ int name_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, \
                          void* dest_addr, gex_Flags_t commit_flags arguments);
GEX_REQUEST_SHORT_(gex_AM_RequestShort0, GEX_AM_PARAMETERS_0_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort1, GEX_AM_PARAMETERS_1_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort2, GEX_AM_PARAMETERS_2_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort3, GEX_AM_PARAMETERS_3_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort4, GEX_AM_PARAMETERS_4_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort5, GEX_AM_PARAMETERS_5_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort6, GEX_AM_PARAMETERS_6_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort7, GEX_AM_PARAMETERS_7_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort8, GEX_AM_PARAMETERS_8_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort9, GEX_AM_PARAMETERS_9_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort10, GEX_AM_PARAMETERS_10_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort11, GEX_AM_PARAMETERS_11_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort12, GEX_AM_PARAMETERS_12_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort13, GEX_AM_PARAMETERS_13_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort14, GEX_AM_PARAMETERS_14_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort15, GEX_AM_PARAMETERS_15_)
GEX_REQUEST_SHORT_(gex_AM_RequestShort16, GEX_AM_PARAMETERS_16_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium0, GEX_AM_PARAMETERS_0_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium1, GEX_AM_PARAMETERS_1_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium2, GEX_AM_PARAMETERS_2_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium3, GEX_AM_PARAMETERS_3_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium4, GEX_AM_PARAMETERS_4_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium5, GEX_AM_PARAMETERS_5_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium6, GEX_AM_PARAMETERS_6_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium7, GEX_AM_PARAMETERS_7_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium8, GEX_AM_PARAMETERS_8_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium9, GEX_AM_PARAMETERS_9_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium10, GEX_AM_PARAMETERS_10_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium11, GEX_AM_PARAMETERS_11_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium12, GEX_AM_PARAMETERS_12_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium13, GEX_AM_PARAMETERS_13_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium14, GEX_AM_PARAMETERS_14_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium15, GEX_AM_PARAMETERS_15_)
GEX_REQUEST_MEDIUM_(gex_AM_RequestMedium16, GEX_AM_PARAMETERS_16_)
GEX_REQUEST_LONG_(gex_AM_RequestLong0, GEX_AM_PARAMETERS_0_)
GEX_REQUEST_LONG_(gex_AM_RequestLong1, GEX_AM_PARAMETERS_1_)
GEX_REQUEST_LONG_(gex_AM_RequestLong2, GEX_AM_PARAMETERS_2_)
GEX_REQUEST_LONG_(gex_AM_RequestLong3, GEX_AM_PARAMETERS_3_)
GEX_REQUEST_LONG_(gex_AM_RequestLong4, GEX_AM_PARAMETERS_4_)
GEX_REQUEST_LONG_(gex_AM_RequestLong5, GEX_AM_PARAMETERS_5_)
GEX_REQUEST_LONG_(gex_AM_RequestLong6, GEX_AM_PARAMETERS_6_)
GEX_REQUEST_LONG_(gex_AM_RequestLong7, GEX_AM_PARAMETERS_7_)
GEX_REQUEST_LONG_(gex_AM_RequestLong8, GEX_AM_PARAMETERS_8_)
GEX_REQUEST_LONG_(gex_AM_RequestLong9, GEX_AM_PARAMETERS_9_)
GEX_REQUEST_LONG_(gex_AM_RequestLong10, GEX_AM_PARAMETERS_10_)
GEX_REQUEST_LONG_(gex_AM_RequestLong11, GEX_AM_PARAMETERS_11_)
GEX_REQUEST_LONG_(gex_AM_RequestLong12, GEX_AM_PARAMETERS_12_)
GEX_REQUEST_LONG_(gex_AM_RequestLong13, GEX_AM_PARAMETERS_13_)
GEX_REQUEST_LONG_(gex_AM_RequestLong14, GEX_AM_PARAMETERS_14_)
GEX_REQUEST_LONG_(gex_AM_RequestLong15, GEX_AM_PARAMETERS_15_)
GEX_REQUEST_LONG_(gex_AM_RequestLong16, GEX_AM_PARAMETERS_16_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort0, GEX_AM_PARAMETERS_0_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort1, GEX_AM_PARAMETERS_1_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort2, GEX_AM_PARAMETERS_2_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort3, GEX_AM_PARAMETERS_3_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort4, GEX_AM_PARAMETERS_4_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort5, GEX_AM_PARAMETERS_5_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort6, GEX_AM_PARAMETERS_6_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort7, GEX_AM_PARAMETERS_7_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort8, GEX_AM_PARAMETERS_8_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort9, GEX_AM_PARAMETERS_9_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort10, GEX_AM_PARAMETERS_10_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort11, GEX_AM_PARAMETERS_11_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort12, GEX_AM_PARAMETERS_12_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort13, GEX_AM_PARAMETERS_13_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort14, GEX_AM_PARAMETERS_14_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort15, GEX_AM_PARAMETERS_15_)
GEX_REPLY_SHORT_(gex_AM_ReplyShort16, GEX_AM_PARAMETERS_16_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium0, GEX_AM_PARAMETERS_0_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium1, GEX_AM_PARAMETERS_1_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium2, GEX_AM_PARAMETERS_2_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium3, GEX_AM_PARAMETERS_3_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium4, GEX_AM_PARAMETERS_4_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium5, GEX_AM_PARAMETERS_5_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium6, GEX_AM_PARAMETERS_6_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium7, GEX_AM_PARAMETERS_7_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium8, GEX_AM_PARAMETERS_8_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium9, GEX_AM_PARAMETERS_9_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium10, GEX_AM_PARAMETERS_10_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium11, GEX_AM_PARAMETERS_11_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium12, GEX_AM_PARAMETERS_12_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium13, GEX_AM_PARAMETERS_13_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium14, GEX_AM_PARAMETERS_14_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium15, GEX_AM_PARAMETERS_15_)
GEX_REPLY_MEDIUM_(gex_AM_ReplyMedium16, GEX_AM_PARAMETERS_16_)
GEX_REPLY_LONG_(gex_AM_ReplyLong0, GEX_AM_PARAMETERS_0_)
GEX_REPLY_LONG_(gex_AM_ReplyLong1, GEX_AM_PARAMETERS_1_)
GEX_REPLY_LONG_(gex_AM_ReplyLong2, GEX_AM_PARAMETERS_2_)
GEX_REPLY_LONG_(gex_AM_ReplyLong3, GEX_AM_PARAMETERS_3_)
GEX_REPLY_LONG_(gex_AM_ReplyLong4, GEX_AM_PARAMETERS_4_)
GEX_REPLY_LONG_(gex_AM_ReplyLong5, GEX_AM_PARAMETERS_5_)
GEX_REPLY_LONG_(gex_AM_ReplyLong6, GEX_AM_PARAMETERS_6_)
GEX_REPLY_LONG_(gex_AM_ReplyLong7, GEX_AM_PARAMETERS_7_)
GEX_REPLY_LONG_(gex_AM_ReplyLong8, GEX_AM_PARAMETERS_8_)
GEX_REPLY_LONG_(gex_AM_ReplyLong9, GEX_AM_PARAMETERS_9_)
GEX_REPLY_LONG_(gex_AM_ReplyLong10, GEX_AM_PARAMETERS_10_)
GEX_REPLY_LONG_(gex_AM_ReplyLong11, GEX_AM_PARAMETERS_11_)
GEX_REPLY_LONG_(gex_AM_ReplyLong12, GEX_AM_PARAMETERS_12_)
GEX_REPLY_LONG_(gex_AM_ReplyLong13, GEX_AM_PARAMETERS_13_)
GEX_REPLY_LONG_(gex_AM_ReplyLong14, GEX_AM_PARAMETERS_14_)
GEX_REPLY_LONG_(gex_AM_ReplyLong15, GEX_AM_PARAMETERS_15_)
GEX_REPLY_LONG_(gex_AM_ReplyLong16, GEX_AM_PARAMETERS_16_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium0, gex_AM_CommitRequestMedium0_v2,
                   GEX_AM_PARAMETERS_0_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium1, gex_AM_CommitRequestMedium1_v2,
                   GEX_AM_PARAMETERS_1_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium2, gex_AM_CommitRequestMedium2_v2,
                   GEX_AM_PARAMETERS_2_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium3, gex_AM_CommitRequestMedium3_v2,
                   GEX_AM_PARAMETERS_3_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium4, gex_AM_CommitRequestMedium4_v2,
                   GEX_AM_PARAMETERS_4_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium5, gex_AM_CommitRequestMedium5_v2,
                   GEX_AM_PARAMETERS_5_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium6, gex_AM_CommitRequestMedium6_v2,
                   GEX_AM_PARAMETERS_6_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium7, gex_AM_CommitRequestMedium7_v2,
                   GEX_AM_PARAMETERS_7_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium8, gex_AM_CommitRequestMedium8_v2,
                   GEX_AM_PARAMETERS_8_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium9, gex_AM_CommitRequestMedium9_v2,
                   GEX_AM_PARAMETERS_9_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium10, gex_AM_CommitRequestMedium10_v2,
                   GEX_AM_PARAMETERS_10_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium11, gex_AM_CommitRequestMedium11_v2,
                   GEX_AM_PARAMETERS_11_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium12, gex_AM_CommitRequestMedium12_v2,
                   GEX_AM_PARAMETERS_12_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium13, gex_AM_CommitRequestMedium13_v2,
                   GEX_AM_PARAMETERS_13_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium14, gex_AM_CommitRequestMedium14_v2,
                   GEX_AM_PARAMETERS_14_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium15, gex_AM_CommitRequestMedium15_v2,
                   GEX_AM_PARAMETERS_15_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitRequestMedium16, gex_AM_CommitRequestMedium16_v2,
                   GEX_AM_PARAMETERS_16_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium0, gex_AM_CommitReplyMedium0_v2, GEX_AM_PARAMETERS_0_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium1, gex_AM_CommitReplyMedium1_v2, GEX_AM_PARAMETERS_1_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium2, gex_AM_CommitReplyMedium2_v2, GEX_AM_PARAMETERS_2_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium3, gex_AM_CommitReplyMedium3_v2, GEX_AM_PARAMETERS_3_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium4, gex_AM_CommitReplyMedium4_v2, GEX_AM_PARAMETERS_4_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium5, gex_AM_CommitReplyMedium5_v2, GEX_AM_PARAMETERS_5_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium6, gex_AM_CommitReplyMedium6_v2, GEX_AM_PARAMETERS_6_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium7, gex_AM_CommitReplyMedium7_v2, GEX_AM_PARAMETERS_7_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium8, gex_AM_CommitReplyMedium8_v2, GEX_AM_PARAMETERS_8_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium9, gex_AM_CommitReplyMedium9_v2, GEX_AM_PARAMETERS_9_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium10, gex_AM_CommitReplyMedium10_v2, GEX_AM_PARAMETERS_10_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium11, gex_AM_CommitReplyMedium11_v2, GEX_AM_PARAMETERS_11_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium12, gex_AM_CommitReplyMedium12_v2, GEX_AM_PARAMETERS_12_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium13, gex_AM_CommitReplyMedium13_v2, GEX_AM_PARAMETERS_13_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium14, gex_AM_CommitReplyMedium14_v2, GEX_AM_PARAMETERS_14_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium15, gex_AM_CommitReplyMedium15_v2, GEX_AM_PARAMETERS_15_)
GEX_COMMIT_MEDIUM_(gex_AM_CommitReplyMedium16, gex_AM_CommitReplyMedium16_v2, GEX_AM_PARAMETERS_16_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong0, gex_AM_CommitRequestLong0_v2, GEX_AM_PARAMETERS_0_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong1, gex_AM_CommitRequestLong1_v2, GEX_AM_PARAMETERS_1_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong2, gex_AM_CommitRequestLong2_v2, GEX_AM_PARAMETERS_2_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong3, gex_AM_CommitRequestLong3_v2, GEX_AM_PARAMETERS_3_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong4, gex_AM_CommitRequestLong4_v2, GEX_AM_PARAMETERS_4_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong5, gex_AM_CommitRequestLong5_v2, GEX_AM_PARAMETERS_5_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong6, gex_AM_CommitRequestLong6_v2, GEX_AM_PARAMETERS_6_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong7, gex_AM_CommitRequestLong7_v2, GEX_AM_PARAMETERS_7_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong8, gex_AM_CommitRequestLong8_v2, GEX_AM_PARAMETERS_8_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong9, gex_AM_CommitRequestLong9_v2, GEX_AM_PARAMETERS_9_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong10, gex_AM_CommitRequestLong10_v2, GEX_AM_PARAMETERS_10_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong11, gex_AM_CommitRequestLong11_v2, GEX_AM_PARAMETERS_11_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong12, gex_AM_CommitRequestLong12_v2, GEX_AM_PARAMETERS_12_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong13, gex_AM_CommitRequestLong13_v2, GEX_AM_PARAMETERS_13_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong14, gex_AM_CommitRequestLong14_v2, GEX_AM_PARAMETERS_14_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong15, gex_AM_CommitRequestLong15_v2, GEX_AM_PARAMETERS_15_)
GEX_COMMIT_LONG_(gex_AM_CommitRequestLong16, gex_AM_CommitRequestLong16_v2, GEX_AM_PARAMETERS_16_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong0, gex_AM_CommitReplyLong0_v2, GEX_AM_PARAMETERS_0_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong1, gex_AM_CommitReplyLong1_v2, GEX_AM_PARAMETERS_1_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong2, gex_AM_CommitReplyLong2_v2, GEX_AM_PARAMETERS_2_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong3, gex_AM_CommitReplyLong3_v2, GEX_AM_PARAMETERS_3_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong4, gex_AM_CommitReplyLong4_v2, GEX_AM_PARAMETERS_4_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong5, gex_AM_CommitReplyLong5_v2, GEX_AM_PARAMETERS_5_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong6, gex_AM_CommitReplyLong6_v2, GEX_AM_PARAMETERS_6_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong7, gex_AM_CommitReplyLong7_v2, GEX_AM_PARAMETERS_7_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong8, gex_AM_CommitReplyLong8_v2, GEX_AM_PARAMETERS_8_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong9, gex_AM_CommitReplyLong9_v2, GEX_AM_PARAMETERS_9_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong10, gex_AM_CommitReplyLong10_v2, GEX_AM_PARAMETERS_10_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong11, gex_AM_CommitReplyLong11_v2, GEX_AM_PARAMETERS_11_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong12, gex_AM_CommitReplyLong12_v2, GEX_AM_PARAMETERS_12_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong13, gex_AM_CommitReplyLong13_v2, GEX_AM_PARAMETERS_13_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong14, gex_AM_CommitReplyLong14_v2, GEX_AM_PARAMETERS_14_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong15, gex_AM_CommitReplyLong15_v2, GEX_AM_PARAMETERS_15_)
GEX_COMMIT_LONG_(gex_AM_CommitReplyLong16, gex_AM_CommitReplyLong16_v2, GEX_AM_PARAMETERS_16_)

#ifdef __cplusplus
}
#endif

#endif
#endif
