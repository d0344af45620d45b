/* GASNet-1: active messages. Part of gasnet.h. Spec: GASNet-1 1.8, "Active Messaging Interface".
 *
 * Those of am.h, over the primordial team, with payload that is the caller's again when the call
 * returns. Requests: any thread, not in handlers, not while holding a lock; they poll while there
 * is no room. Replies: from the request handler that the token was given to, once.
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

#ifdef GEX_BODIES_
/** Largest number of handler arguments: 16. Any context, like all limits. */
GEX_INLINE_ size_t gasnet_AMMaxArgs(void) {
  return gex_AM_MaxArgs();
}
/** Largest payload in bytes of a medium request or reply between any two processes, which is one
 * limit. */
GEX_INLINE_ size_t gasnet_AMMaxMedium(void) {
  return gex_AM_LUBRequestMedium();
}
/** Bytes of payload of long requests and long replies. */
GEX_INLINE_ size_t gasnet_AMMaxLongRequest(void) {
  return gex_AM_LUBRequestLong();
}
GEX_INLINE_ size_t gasnet_AMMaxLongReply(void) {
  return gex_AM_LUBReplyLong();
}

/** The rank that sent the message that is being handled. Handlers only. */
GEX_INLINE_ int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  *srcindex = info.gex_srcrank;
  return GASNET_OK;
}
#endif

/* clang-format off */

/* For each number of arguments. RequestLongAsync lets its payload be read until the reply handler
 * starts; this library has read it when the call returns. */
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

/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
