/* The argument-count families of the AM interface: gex_AM_RequestShort0 to 16 and their like, and
 * the forms without a number, which count their arguments. Part of gasnetex.h.
 *
 * Each function gathers its arguments and makes one call. Here, and in gasnet1_am.h out of the same
 * pieces, the interface is made by preprocessor repetition; nowhere else.
 */
#ifndef GEX_AM_FAMILIES_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_AM_FAMILIES_H_

#include <gex/am.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */

/* Parameters of M arguments, and the array that holds them (padded to whole 16-byte chunks). */
#define GEX_AM_PARAMETERS_0_
#define GEX_AM_PARAMETERS_1_ , gex_AM_Arg_t a0
#define GEX_AM_PARAMETERS_2_ GEX_AM_PARAMETERS_1_ , gex_AM_Arg_t a1
#define GEX_AM_PARAMETERS_3_ GEX_AM_PARAMETERS_2_ , gex_AM_Arg_t a2
#define GEX_AM_PARAMETERS_4_ GEX_AM_PARAMETERS_3_ , gex_AM_Arg_t a3
#define GEX_AM_PARAMETERS_5_ GEX_AM_PARAMETERS_4_ , gex_AM_Arg_t a4
#define GEX_AM_PARAMETERS_6_ GEX_AM_PARAMETERS_5_ , gex_AM_Arg_t a5
#define GEX_AM_PARAMETERS_7_ GEX_AM_PARAMETERS_6_ , gex_AM_Arg_t a6
#define GEX_AM_PARAMETERS_8_ GEX_AM_PARAMETERS_7_ , gex_AM_Arg_t a7
#define GEX_AM_PARAMETERS_9_ GEX_AM_PARAMETERS_8_ , gex_AM_Arg_t a8
#define GEX_AM_PARAMETERS_10_ GEX_AM_PARAMETERS_9_ , gex_AM_Arg_t a9
#define GEX_AM_PARAMETERS_11_ GEX_AM_PARAMETERS_10_ , gex_AM_Arg_t a10
#define GEX_AM_PARAMETERS_12_ GEX_AM_PARAMETERS_11_ , gex_AM_Arg_t a11
#define GEX_AM_PARAMETERS_13_ GEX_AM_PARAMETERS_12_ , gex_AM_Arg_t a12
#define GEX_AM_PARAMETERS_14_ GEX_AM_PARAMETERS_13_ , gex_AM_Arg_t a13
#define GEX_AM_PARAMETERS_15_ GEX_AM_PARAMETERS_14_ , gex_AM_Arg_t a14
#define GEX_AM_PARAMETERS_16_ GEX_AM_PARAMETERS_15_ , gex_AM_Arg_t a15

#define GEX_AM_GATHER_0_ const gex_AM_Arg_t *const args = NULL;
#define GEX_AM_ARRAY_(size) const gex_AM_Arg_t args[size] __attribute__((aligned(16)))
#define GEX_AM_GATHER_1_ GEX_AM_ARRAY_(4) = {a0, 0, 0, 0};
#define GEX_AM_GATHER_2_ GEX_AM_ARRAY_(4) = {a0, a1, 0, 0};
#define GEX_AM_GATHER_3_ GEX_AM_ARRAY_(4) = {a0, a1, a2, 0};
#define GEX_AM_GATHER_4_ GEX_AM_ARRAY_(4) = {a0, a1, a2, a3};
#define GEX_AM_GATHER_5_ GEX_AM_ARRAY_(8) = {a0, a1, a2, a3, a4, 0, 0, 0};
#define GEX_AM_GATHER_6_ GEX_AM_ARRAY_(8) = {a0, a1, a2, a3, a4, a5, 0, 0};
#define GEX_AM_GATHER_7_ GEX_AM_ARRAY_(8) = {a0, a1, a2, a3, a4, a5, a6, 0};
#define GEX_AM_GATHER_8_ GEX_AM_ARRAY_(8) = {a0, a1, a2, a3, a4, a5, a6, a7};
#define GEX_AM_GATHER_9_ GEX_AM_ARRAY_(12) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, 0, 0, 0};
#define GEX_AM_GATHER_10_ GEX_AM_ARRAY_(12) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, 0, 0};
#define GEX_AM_GATHER_11_ GEX_AM_ARRAY_(12) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, 0};
#define GEX_AM_GATHER_12_ GEX_AM_ARRAY_(12) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
#define GEX_AM_GATHER_13_ GEX_AM_ARRAY_(16) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, 0, 0, 0};
#define GEX_AM_GATHER_14_ GEX_AM_ARRAY_(16) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, 0, 0};
#define GEX_AM_GATHER_15_ GEX_AM_ARRAY_(16) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, 0};
#define GEX_AM_GATHER_16_ GEX_AM_ARRAY_(16) = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};

#define GEX_AM_FAMILY_(M)                                                                         \
  GEX_INLINE_ int gex_AM_RequestShort##M(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,    \
                                         gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {            \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_short_(tm, rank, handler, flags, M, args);                              \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_RequestMedium##M(                                                        \
      gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr,              \
      size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {           \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_medium_(tm, rank, handler, source_addr, nbytes, lc_opt, flags, M, args);\
  }                                                                                               \
  GEX_INLINE_ int gex_AM_RequestLong##M(                                                          \
      gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr,              \
      size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,                                        \
      gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {                                               \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_long_(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, \
                                M, args);                                                         \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_ReplyShort##M(gex_Token_t token, gex_AM_Index_t handler,                 \
                                       gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {              \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_short_(token, handler, flags, M, args);                                   \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_ReplyMedium##M(                                                          \
      gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes,          \
      gex_Event_t *lc_opt, gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {                          \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_medium_(token, handler, source_addr, nbytes, lc_opt, flags, M, args);     \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_ReplyLong##M(                                                            \
      gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes,          \
      void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags GEX_AM_PARAMETERS_##M##_) {         \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_long_(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, M,   \
                              args);                                                              \
  }                                                                                               \
  GEX_AM_COMMIT_MEDIUM_(Request, request, M)                                                      \
  GEX_AM_COMMIT_MEDIUM_(Reply, reply, M)                                                          \
  GEX_AM_COMMIT_LONG_(Request, request, M)                                                        \
  GEX_AM_COMMIT_LONG_(Reply, reply, M)

/* Commit returns nothing; its _v2 form takes flags and returns non-zero when GEX_FLAG_IMMEDIATE
 * kept it from sending (the descriptor then remains open). */
#define GEX_AM_COMMIT_MEDIUM_(Kind, kind, M)                                                      \
  GEX_INLINE_ void gex_AM_Commit##Kind##Medium##M(                                                \
      gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes GEX_AM_PARAMETERS_##M##_) {      \
    GEX_AM_GATHER_##M##_                                                                          \
    (void)gex_am_commit_##kind##_medium_(sd, handler, nbytes, 0, M, args);                        \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_Commit##Kind##Medium##M##_v2(                                            \
      gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,                                 \
      gex_Flags_t commit_flags GEX_AM_PARAMETERS_##M##_) {                                        \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_commit_##kind##_medium_(sd, handler, nbytes, commit_flags, M, args);            \
  }
#define GEX_AM_COMMIT_LONG_(Kind, kind, M)                                                        \
  GEX_INLINE_ void gex_AM_Commit##Kind##Long##M(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,      \
                                                size_t nbytes,                                    \
                                                void *dest_addr GEX_AM_PARAMETERS_##M##_) {       \
    GEX_AM_GATHER_##M##_                                                                          \
    (void)gex_am_commit_##kind##_long_(sd, handler, nbytes, dest_addr, 0, M, args);               \
  }                                                                                               \
  GEX_INLINE_ int gex_AM_Commit##Kind##Long##M##_v2(                                              \
      gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr,                \
      gex_Flags_t commit_flags GEX_AM_PARAMETERS_##M##_) {                                        \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_commit_##kind##_long_(sd, handler, nbytes, dest_addr, commit_flags, M, args);   \
  }

#ifdef GEX_BODIES_
GEX_AM_FAMILY_(0)
GEX_AM_FAMILY_(1)
GEX_AM_FAMILY_(2)
GEX_AM_FAMILY_(3)
GEX_AM_FAMILY_(4)
GEX_AM_FAMILY_(5)
GEX_AM_FAMILY_(6)
GEX_AM_FAMILY_(7)
GEX_AM_FAMILY_(8)
GEX_AM_FAMILY_(9)
GEX_AM_FAMILY_(10)
GEX_AM_FAMILY_(11)
GEX_AM_FAMILY_(12)
GEX_AM_FAMILY_(13)
GEX_AM_FAMILY_(14)
GEX_AM_FAMILY_(15)
GEX_AM_FAMILY_(16)
#endif

/* The forms without a number: F fixed arguments, then M handler arguments. GEX_AM_COUNT_F_ picks
 * M out of a list that its own arguments shift to the left. */
#define GEX_AM_JOIN_(a, b) GEX_AM_JOIN_2_(a, b)
#define GEX_AM_JOIN_2_(a, b) a##b
#define GEX_AM_JOIN_V2_(a, b) GEX_AM_JOIN_V2_2_(a, b)
#define GEX_AM_JOIN_V2_2_(a, b) a##b##_v2
#define GEX_AM_PICK_3_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, M, ...) M
#define GEX_AM_COUNT_3_(...) GEX_AM_PICK_3_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)
#define GEX_AM_PICK_4_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, M, ...) M
#define GEX_AM_COUNT_4_(...) GEX_AM_PICK_4_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)
#define GEX_AM_PICK_5_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, M, ...) M
#define GEX_AM_COUNT_5_(...) GEX_AM_PICK_5_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)
#define GEX_AM_PICK_6_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22, M, ...) M
#define GEX_AM_COUNT_6_(...) GEX_AM_PICK_6_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)
#define GEX_AM_PICK_7_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22, x23, M, ...) M
#define GEX_AM_COUNT_7_(...) GEX_AM_PICK_7_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)
#define GEX_AM_PICK_8_(x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22, x23, x24, M, ...) M
#define GEX_AM_COUNT_8_(...) GEX_AM_PICK_8_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, x)

#define gex_AM_RequestShort(...) GEX_AM_JOIN_(gex_AM_RequestShort, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) GEX_AM_JOIN_(gex_AM_RequestMedium, GEX_AM_COUNT_7_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) GEX_AM_JOIN_(gex_AM_RequestLong, GEX_AM_COUNT_8_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) GEX_AM_JOIN_(gex_AM_ReplyShort, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) GEX_AM_JOIN_(gex_AM_ReplyMedium, GEX_AM_COUNT_6_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) GEX_AM_JOIN_(gex_AM_ReplyLong, GEX_AM_COUNT_7_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium(...) GEX_AM_JOIN_(gex_AM_CommitRequestMedium, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) GEX_AM_JOIN_(gex_AM_CommitReplyMedium, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) GEX_AM_JOIN_(gex_AM_CommitRequestLong, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) GEX_AM_JOIN_(gex_AM_CommitReplyLong, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitRequestMedium, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitReplyMedium, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitRequestLong, GEX_AM_COUNT_5_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitReplyLong, GEX_AM_COUNT_5_(__VA_ARGS__))(__VA_ARGS__)

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
