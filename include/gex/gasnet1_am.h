/** @file
 * GASNet-1: active messages. Part of gasnet.h. They are those of am.h, over the primordial team,
 * with payload that is the caller's again when the call returns.
 */
#ifndef GEX_GASNET1_AM_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_AM_H_

#include <gex/am_families.h>
#include <gex/gasnet1_job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Limits of messages (GASNet-1)
 * Return the largest number of handler arguments, and the largest payload in bytes between any two
 * processes: of medium requests and replies, of long requests, and of long replies.
 *
 * @return A number that is constant over the job.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * size_t piece = gasnet_AMMaxMedium();
 * @endcode
 * @par Specification
 * GASNet-1, "Active Messaging Interface".
 * @see gex_AM_LUBRequestMedium, gex_AM_MaxArgs
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ size_t gasnet_AMMaxArgs(void) {
  return gex_AM_MaxArgs();
}
GEX_INLINE_ size_t gasnet_AMMaxMedium(void) {
  return gex_AM_LUBRequestMedium();
}
GEX_INLINE_ size_t gasnet_AMMaxLongRequest(void) {
  return gex_AM_LUBRequestLong();
}
GEX_INLINE_ size_t gasnet_AMMaxLongReply(void) {
  return gex_AM_LUBReplyLong();
}
/**@}*/

/** Returns, within a handler, the rank that sent its message.
 *
 * @param token     The handler's.
 * @param srcindex  Receives the rank.
 * @return GASNET_OK.
 * @par Context
 * Handlers, in the thread that runs them.
 * @par Example
 * @code
 * gasnet_node_t source;
 * gasnet_AMGetMsgSource(token, &source);
 * @endcode
 * @par Specification
 * GASNet-1, "Active Messaging Interface".
 * @see gex_Token_Info
 */
GEX_INLINE_ int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  *srcindex = info.gex_srcrank;
  return GASNET_OK;
}
#endif

/* clang-format off */

#define GEX_GASNET1_AM_FAMILY_(M)                                                                 \
  GEX_INLINE_ int gasnet_AMRequestShort##M(gasnet_node_t dest,                                    \
                                           gasnet_handler_t handler GEX_AM_PARAMETERS_##M##_) {   \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_short_(gex_proc_.gasnet1_team, dest, handler, 0, M, args);              \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMRequestMedium##M(gasnet_node_t dest, gasnet_handler_t handler,         \
                                            const void *source_addr,                              \
                                            size_t nbytes GEX_AM_PARAMETERS_##M##_) {             \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_medium_(gex_proc_.gasnet1_team, dest, handler, source_addr, nbytes,     \
                                  GEX_EVENT_NOW, 0, M, args);                                     \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMRequestLong##M(gasnet_node_t dest, gasnet_handler_t handler,           \
                                          const void *source_addr, size_t nbytes,                 \
                                          void *dest_addr GEX_AM_PARAMETERS_##M##_) {             \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_long_(gex_proc_.gasnet1_team, dest, handler, source_addr, nbytes,       \
                                dest_addr, GEX_EVENT_NOW, 0, M, args);                            \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMRequestLongAsync##M(gasnet_node_t dest, gasnet_handler_t handler,      \
                                               const void *source_addr, size_t nbytes,            \
                                               void *dest_addr GEX_AM_PARAMETERS_##M##_) {        \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_request_long_(gex_proc_.gasnet1_team, dest, handler, source_addr, nbytes,       \
                                dest_addr, GEX_EVENT_NOW, 0, M, args);                            \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMReplyShort##M(gasnet_token_t token,                                    \
                                         gasnet_handler_t handler GEX_AM_PARAMETERS_##M##_) {     \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_short_(token, handler, 0, M, args);                                       \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMReplyMedium##M(gasnet_token_t token, gasnet_handler_t handler,         \
                                          const void *source_addr,                                \
                                          size_t nbytes GEX_AM_PARAMETERS_##M##_) {               \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_medium_(token, handler, source_addr, nbytes, GEX_EVENT_NOW, 0, M, args);  \
  }                                                                                               \
  GEX_INLINE_ int gasnet_AMReplyLong##M(gasnet_token_t token, gasnet_handler_t handler,           \
                                        const void *source_addr, size_t nbytes,                   \
                                        void *dest_addr GEX_AM_PARAMETERS_##M##_) {               \
    GEX_AM_GATHER_##M##_                                                                          \
    return gex_am_reply_long_(token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0,   \
                              M, args);                                                           \
  }

/** @name Active messages (GASNet-1)
 * Send requests, and answer them with replies, over the primordial team.
 *
 * They are the EX calls of the same kind: gex_AM_RequestMedium2 for gasnet_AMRequestMedium2. [M] is
 * the number of handler arguments, 0 to 16; there is no form without it. RequestLongAsync may read
 * its payload until the reply handler starts; this library has read it when the call returns.
 *
 * @par Synopsis
 * @code
 * int gasnet_AMRequestShort[M](gasnet_node_t dest, gasnet_handler_t handler, ...M arguments);
 * int gasnet_AMRequestMedium[M](gasnet_node_t dest, gasnet_handler_t handler,
 *                               const void *source_addr, size_t nbytes, ...M arguments);
 * int gasnet_AMRequestLong[M](gasnet_node_t dest, gasnet_handler_t handler,
 *                             const void *source_addr, size_t nbytes, void *dest_addr,
 *                             ...M arguments);
 * int gasnet_AMRequestLongAsync[M](the same);
 * int gasnet_AMReplyShort[M](gasnet_token_t token, gasnet_handler_t handler, ...M arguments);
 * int gasnet_AMReplyMedium[M](gasnet_token_t token, gasnet_handler_t handler,
 *                             const void *source_addr, size_t nbytes, ...M arguments);
 * int gasnet_AMReplyLong[M](gasnet_token_t token, gasnet_handler_t handler,
 *                           const void *source_addr, size_t nbytes, void *dest_addr,
 *                           ...M arguments);
 * @endcode
 *
 * @param dest         The peer's rank.
 * @param token        That of the running request handler.
 * @param handler      Index of a handler at the peer.
 * @param source_addr  The payload, anywhere in this process. It is the caller's again when the call
 *                     returns; of RequestLongAsync once the reply handler runs.
 * @param nbytes       Its bytes, up to gasnet_AMMaxMedium(), gasnet_AMMaxLongRequest() or
 *                     gasnet_AMMaxLongReply().
 * @param dest_addr    Where a long payload goes, in the peer's segment.
 * @return GASNET_OK.
 * @par Context
 * Requests: any thread, not in handlers, not while holding a lock; they poll while there is no
 * room. Replies: the request handler that the token was given to, once.
 * @par Example
 * @code
 * gasnet_AMRequestShort2(peer, HANDLER, 1, 2);
 * @endcode
 * @par Specification
 * GASNet-1, "Active Messaging Interface".
 * @see gex_AM_RequestMedium, gex_AM_ReplyMedium, gasnet_attach
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_GASNET1_AM_FAMILY_(0)
GEX_GASNET1_AM_FAMILY_(1)
GEX_GASNET1_AM_FAMILY_(2)
GEX_GASNET1_AM_FAMILY_(3)
GEX_GASNET1_AM_FAMILY_(4)
GEX_GASNET1_AM_FAMILY_(5)
GEX_GASNET1_AM_FAMILY_(6)
GEX_GASNET1_AM_FAMILY_(7)
GEX_GASNET1_AM_FAMILY_(8)
GEX_GASNET1_AM_FAMILY_(9)
GEX_GASNET1_AM_FAMILY_(10)
GEX_GASNET1_AM_FAMILY_(11)
GEX_GASNET1_AM_FAMILY_(12)
GEX_GASNET1_AM_FAMILY_(13)
GEX_GASNET1_AM_FAMILY_(14)
GEX_GASNET1_AM_FAMILY_(15)
GEX_GASNET1_AM_FAMILY_(16)
#endif
/**@}*/

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
