/** @file
 * Active messages by number of arguments: gex_AM_RequestShort0 to 16 and their like, and the forms
 * without a number, which count their arguments. Part of gasnetex.h.
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

/** @name Active messages, forms with a number
 * Functions with a fixed number of handler arguments.
 *
 * What each does is described where the macro of that name without the number is, which calls it:
 * gex_AM_RequestMedium2 at #gex_AM_RequestMedium. They serve callers that have no macros, and those
 * that want the number checked.
 * @see gex_AM_RequestMedium, gex_AM_ReplyMedium, gex_AM_CommitRequestMedium
 */
/**@{*/
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
/**@}*/

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

/** @name Requests
 * Send an active message that runs a handler at a peer, which may answer with one reply.
 *
 * [M] is 0 to 16, or left out: then the arguments are counted. Each is a #gex_AM_Arg_t.
 *
 * @par Synopsis
 * @code
 * int gex_AM_RequestShort[M](gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
 *                            gex_Flags_t flags, ...M arguments);
 * int gex_AM_RequestMedium[M](gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
 *                             const void *source_addr, size_t nbytes, gex_Event_t *lc_opt,
 *                             gex_Flags_t flags, ...M arguments);
 * int gex_AM_RequestLong[M](gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
 *                           const void *source_addr, size_t nbytes, void *dest_addr,
 *                           gex_Event_t *lc_opt, gex_Flags_t flags, ...M arguments);
 * @endcode
 *
 * @param tm           A team, or a TM-pair.
 * @param rank         The peer: a rank of `tm`; the caller's own is allowed.
 * @param handler      Index of a handler that is registered at the peer's endpoint for requests of
 *                     this category and number of arguments.
 * @param source_addr  The payload, anywhere in this process; it must not change before local
 *                     completion. Any alignment.
 * @param nbytes       Its bytes, up to gex_AM_MaxRequestMedium or gex_AM_MaxRequestLong; 0 is
 *                     allowed.
 * @param dest_addr    Long: where the payload goes, within the peer's bound segment, or with
 *                     #GEX_FLAG_PEER_SEG_OFFSET an offset into it. With 0 bytes any address, which
 *                     the handler is given.
 * @param lc_opt       How local completion is learnt of, that the payload may be written to again:
 *                     #GEX_EVENT_NOW, before the call returns; #GEX_EVENT_GROUP, in category
 *                     #GEX_EC_LC of the implicit operations; or the address of a variable, which
 *                     receives an event. Not #GEX_EVENT_DEFER.
 * @param flags        0 or an OR of #GEX_FLAG_IMMEDIATE, the segment flags, the PEER_NEVER flags,
 *                     #GEX_FLAG_LC_COPY_YES or #GEX_FLAG_LC_COPY_NO. The last two change nothing: a
 *                     message takes a copy of its payload along.
 * @return 0, or with #GEX_FLAG_IMMEDIATE non-zero if there was no room, and nothing was sent.
 * @par Completion
 * There is none but local completion. That the handler has run shows only by its reply, or by what
 * it does otherwise.
 * @par Ordering and visibility
 * Messages are not ordered, not even between two ranks. What the caller wrote before it sent a
 * message and what it had completed can be read in the handler. A long payload is at its
 * destination when the handler starts.
 * @par Errors
 * None is returned. A payload above the limit ends the job with one line. So does, at the peer, a
 * message for an index where no such handler is registered. That category and arguments fit the
 * handler is checked there too: in every library of a message over a network, within a host by the
 * checking library.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL, not between Prepare and Commit. A call may
 * poll, and polls until there is room, unless #GEX_FLAG_IMMEDIATE is given. A request to an
 * endpoint of this process runs its handler, and that of its reply, before it returns.
 * @par Example
 * @code
 * // ADD is the index of this handler at the peer
 * static void add(gex_Token_t token, void* payload, size_t nbytes, gex_AM_Arg_t first) {
 *   add_values(payload, nbytes, first);
 *   gex_AM_ReplyShort(token, ADDED, 0, first);
 * }
 *
 * gex_AM_RequestMedium(tm, peer, ADD, values, sizeof values, GEX_EVENT_NOW, 0, first);
 * @endcode
 * @par Specification
 * GASNet-EX, "Fixed-payload AM APIs".
 * @see gex_EP_RegisterHandlers, gex_AM_ReplyMedium, gex_AM_PrepareRequestMedium,
 *      gex_AM_MaxRequestMedium
 */
/**@{*/
#define gex_AM_RequestShort(...) GEX_AM_JOIN_(gex_AM_RequestShort, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) GEX_AM_JOIN_(gex_AM_RequestMedium, GEX_AM_COUNT_7_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) GEX_AM_JOIN_(gex_AM_RequestLong, GEX_AM_COUNT_8_(__VA_ARGS__))(__VA_ARGS__)
/**@}*/

/** @name Replies
 * Answer a request from within its handler.
 *
 * [M] is 0 to 16, or left out: then the arguments are counted. Each is a #gex_AM_Arg_t.
 *
 * @par Synopsis
 * @code
 * int gex_AM_ReplyShort[M](gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
 *                          ...M arguments);
 * int gex_AM_ReplyMedium[M](gex_Token_t token, gex_AM_Index_t handler, const void *source_addr,
 *                           size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags,
 *                           ...M arguments);
 * int gex_AM_ReplyLong[M](gex_Token_t token, gex_AM_Index_t handler, const void *source_addr,
 *                         size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
 *                         gex_Flags_t flags, ...M arguments);
 * @endcode
 *
 * @param token        That of the running handler.
 * @param handler      Index of a handler that is registered for replies at the endpoint that sent
 *                     the request.
 * @param source_addr  The payload; it must not change before local completion. It may be that of
 *                     the request.
 * @param nbytes       Its bytes, up to gex_Token_MaxReplyMedium or gex_Token_MaxReplyLong.
 * @param dest_addr    Long: where the payload goes, within the segment bound to the requester's
 *                     endpoint.
 * @param lc_opt       #GEX_EVENT_NOW, or the address of a variable, which receives an event; the
 *                     client tests or waits for it outside the handler.
 * @param flags        As for #gex_AM_RequestMedium.
 * @return 0, or with #GEX_FLAG_IMMEDIATE non-zero if there was no room, and nothing was sent.
 * @par Completion
 * As for requests. A reply never waits for the requester to poll: its place was kept when the
 * request was taken.
 * @par Errors
 * None is returned. A payload above the limit and a second reply to one request end the job with
 * one line, and in the checking library a reply after the handler has returned.
 * @par Context
 * A request's handler, in its thread, at most once; not while holding an HSL.
 * @par Example
 * @code
 * static void square(gex_Token_t token, gex_AM_Arg_t number) {
 *   gex_AM_ReplyShort(token, SQUARED, 0, number * number);
 * }
 * @endcode
 * @par Specification
 * GASNet-EX, "Fixed-payload AM APIs".
 * @see gex_AM_RequestMedium, gex_Token_Info, gex_AM_PrepareReplyMedium
 */
/**@{*/
#define gex_AM_ReplyShort(...) GEX_AM_JOIN_(gex_AM_ReplyShort, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) GEX_AM_JOIN_(gex_AM_ReplyMedium, GEX_AM_COUNT_6_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) GEX_AM_JOIN_(gex_AM_ReplyLong, GEX_AM_COUNT_7_(__VA_ARGS__))(__VA_ARGS__)
/**@}*/

/** @name Commit of negotiated payload
 * Send the message that a Prepare call has begun, with the payload that stands in its buffer.
 *
 * [M] is 0 to 16, or left out: then the arguments are counted. Each is a #gex_AM_Arg_t. There are
 * as many as Prepare was given for `numargs`.
 *
 * @par Synopsis
 * @code
 * void gex_AM_CommitRequestMedium[M](gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                    ...M arguments);
 * void gex_AM_CommitReplyMedium[M](the same);
 * void gex_AM_CommitRequestLong[M](gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                  void *dest_addr, ...M arguments);
 * void gex_AM_CommitReplyLong[M](the same);
 * int gex_AM_CommitRequestMedium[M]_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                      gex_Flags_t commit_flags, ...M arguments);
 * int gex_AM_CommitReplyMedium[M]_v2(the same);
 * int gex_AM_CommitRequestLong[M]_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
 *                                    void *dest_addr, gex_Flags_t commit_flags, ...M arguments);
 * int gex_AM_CommitReplyLong[M]_v2(the same);
 * @endcode
 *
 * @param sd            The descriptor, which ends with the call.
 * @param handler       As for #gex_AM_RequestMedium and #gex_AM_ReplyMedium.
 * @param nbytes        Bytes of payload, from the beginning of the buffer: 0 to
 *                      gex_AM_SrcDescSize(sd).
 * @param dest_addr     Long: as for #gex_AM_RequestLong, and that of Prepare if it was given one.
 * @param commit_flags  0 or #GEX_FLAG_IMMEDIATE.
 * @return The _v2 forms: 0, or with #GEX_FLAG_IMMEDIATE non-zero if there was no room; the
 *         descriptor then remains open.
 * @par Ordering and visibility
 * As for #gex_AM_RequestMedium.
 * @par Context
 * The thread that prepared; a reply in the handler of its request. A commit of a request to an
 * endpoint of this process runs its handler.
 * @par Example
 * @code
 * if (gex_AM_CommitRequestMedium_v2(sd, ITEMS, nbytes, GEX_FLAG_IMMEDIATE, first) != 0)
 *   gex_AM_CancelRequestMedium(sd, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Negotiated-payload AM APIs".
 * @see gex_AM_PrepareRequestMedium, gex_AM_CancelRequestMedium
 */
/**@{*/
#define gex_AM_CommitRequestMedium(...) GEX_AM_JOIN_(gex_AM_CommitRequestMedium, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) GEX_AM_JOIN_(gex_AM_CommitReplyMedium, GEX_AM_COUNT_3_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) GEX_AM_JOIN_(gex_AM_CommitRequestLong, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) GEX_AM_JOIN_(gex_AM_CommitReplyLong, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitRequestMedium, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitReplyMedium, GEX_AM_COUNT_4_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitRequestLong, GEX_AM_COUNT_5_(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong_v2(...) GEX_AM_JOIN_V2_(gex_AM_CommitReplyLong, GEX_AM_COUNT_5_(__VA_ARGS__))(__VA_ARGS__)
/**@}*/

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
