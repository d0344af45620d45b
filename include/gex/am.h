/** @file
 * Active messages: handlers, limits, tokens, negotiated payload. The calls that send are in
 * am_families.h. Part of gasnetex.h.
 *
 * A message runs a function, its handler, at the endpoint that it is sent to, with up to 16
 * arguments of 32 bits and a payload. Short messages have none; the payload of a medium one is
 * handed to the handler in memory of the library's; that of a long one goes to an address in the
 * bound segment. A request is sent by a client, a reply by a request's handler, at most one to
 * each.
 */
#ifndef GEX_AM_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_AM_H_

#include <gex/objects.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Handlers and their arguments
 * Types of what a message names and carries.
 *
 * A handler's true type follows from how it is registered: for short messages `void
 * (*)(gex_Token_t, gex_AM_Arg_t...)`, with as many arguments as the message has, for medium and
 * long ones `void (*)(gex_Token_t, void *payload, size_t nbytes, gex_AM_Arg_t...)`. In C a handler
 * may stand in a table as it is, and in any language as `(gex_AM_Fn_t)handler`.
 * @par Context of handlers
 * A handler runs in a thread of the client that polls, one at a time in a thread; no thread of the
 * library runs any. It makes only the calls whose description names handlers, does not wait for
 * other messages, and takes no locks but HSLs. Its payload is valid until it returns; a medium
 * payload is aligned for any type.
 * @par Specification
 * GASNet-EX, "Client-facing type for describing one AM handler".
 * @see gex_EP_RegisterHandlers, gex_AM_RequestMedium
 */
/**@{*/
/** Index of a handler at an endpoint. */
typedef uint8_t gex_AM_Index_t;
/** One handler argument. */
typedef int32_t gex_AM_Arg_t;
/* Until C23 `()` takes every function; since then it takes those without parameters, so the type is
 * void * there. The cast is needed with GCC's strict -std=c23, which has the type of a function
 * again, because -Wpedantic would warn of every cast to void *. */
/** Any handler. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L && \
    ((defined(__clang__) && __clang_major__ >= 15) ||          \
     (!defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 13 && !defined(__STRICT_ANSI__)))
typedef void* gex_AM_Fn_t;
#else
typedef void (*gex_AM_Fn_t)();
#endif
/** Names a running handler, within it. */
typedef struct _gex_Token* gex_Token_t;

/** Smallest index that a client may give a handler; the largest is 255. */
#define GEX_AM_INDEX_BASE 128
/**@}*/

/** One handler of a table given to gex_EP_RegisterHandlers.
 * @see gex_EP_RegisterHandlers, gex_Token_Info
 */
typedef struct gex_AM_Entry_t {
  gex_AM_Index_t gex_index; /**< GEX_AM_INDEX_BASE to 255, or 0: assign the highest free one. */
  gex_AM_Fn_t gex_fnptr;    /**< The handler. */
  gex_Flags_t gex_flags;    /**< A category and a direction: GEX_FLAG_AM_... */
  unsigned int gex_nargs;   /**< Arguments of its messages, 0 to 16. */
  const void* gex_cdata;    /**< For the client, see gex_Token_Info. */
  const char* gex_name;     /**< For messages; may be NULL. */
} gex_AM_Entry_t;

/** Adds handlers to an endpoint of this process.
 *
 * @param ep          The endpoint. Calls add up.
 * @param table       The handlers. Those with an index keep it; then those of index 0 get free ones
 *                    in the order of the table, from 255 down, which are written back. It is
 *                    copied, names are not.
 * @param numentries  Entries of the table.
 * @return GASNET_OK; GASNET_ERR_BAD_ARG for an index out of range or taken, too many arguments or
 *         wrong flags; GASNET_ERR_RESOURCE when no index is left. On an error nothing is
 *         registered.
 * @par Ordering and visibility
 * A message that arrives for an index without a handler is an error at its target: register on
 * every rank before a barrier or gex_Segment_Attach, then send.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * enum { PING = 200 };
 * static void ping(gex_Token_t token, gex_AM_Arg_t number) {
 *   gex_AM_ReplyShort(token, PONG, 0, number);
 * }
 * gex_AM_Entry_t table[] = {{PING, (gex_AM_Fn_t)ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1,
 *                            NULL, "ping"}};
 * gex_EP_RegisterHandlers(endpoint, table, 1);
 * @endcode
 * @par Specification
 * GASNet-EX, "Client-facing type for describing one AM handler".
 * @see gex_AM_Entry_t, gex_AM_RequestShort
 */
GEX_EXPORT_ int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries);

/** @name Limits of messages
 * Return the largest number of arguments, and the largest payload in bytes of a call.
 *
 * The answer holds for a call with the same arguments, in this direction and the other, for the
 * whole job, and is at least 512. It does not grow with `numargs`.
 *
 * @param tm          A team, or a TM-pair.
 * @param other_rank  The peer, or #GEX_RANK_INVALID: the least over the members.
 * @param token       Of the request that will be replied to; in its handler only.
 * @param lc_opt      What the call will have; only which it is matters, it is not read.
 * @param flags       What the call will have. With #GEX_FLAG_AM_PREPARE_LEAST_CLIENT or
 *                    #GEX_FLAG_AM_PREPARE_LEAST_ALLOC the largest `least_payload` of the matching
 *                    Prepare, with a buffer of the client's or of the library's.
 * @param numargs     Handler arguments of the call, 0 to gex_AM_MaxArgs().
 * @return MaxArgs: 16. Max calls: bytes. LUB calls: bytes, no more than any answer of the matching
 *         Max call without PREPARE flags.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * size_t piece = gex_AM_MaxRequestMedium(tm, peer, GEX_EVENT_NOW, 0, 2);
 * @endcode
 * @par Specification
 * GASNet-EX, "AM limit queries".
 * @see gex_AM_RequestMedium, gex_AM_PrepareRequestMedium
 */
/**@{*/
GEX_EXPORT_ unsigned int gex_AM_MaxArgs(void);
GEX_EXPORT_ size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank,
                                         const gex_Event_t* lc_opt, gex_Flags_t flags,
                                         unsigned int numargs);
GEX_EXPORT_ size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank,
                                       const gex_Event_t* lc_opt, gex_Flags_t flags,
                                       unsigned int numargs);
GEX_EXPORT_ size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank,
                                           const gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs);
GEX_EXPORT_ size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank,
                                         const gex_Event_t* lc_opt, gex_Flags_t flags,
                                         unsigned int numargs);
GEX_EXPORT_ size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t* lc_opt,
                                          gex_Flags_t flags, unsigned int numargs);
GEX_EXPORT_ size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t* lc_opt,
                                            gex_Flags_t flags, unsigned int numargs);
GEX_EXPORT_ size_t gex_AM_LUBRequestLong(void);
GEX_EXPORT_ size_t gex_AM_LUBReplyLong(void);
GEX_EXPORT_ size_t gex_AM_LUBRequestMedium(void);
GEX_EXPORT_ size_t gex_AM_LUBReplyMedium(void);
/**@}*/

/** @name Items of a token
 * What gex_Token_Info is asked for, and answers. Every item is always answered here, which the
 * SUPPORTS macros state.
 * @see gex_Token_Info
 */
/**@{*/
/** An OR of GEX_TI_... */
typedef uint32_t gex_TI_t;
#define GEX_TI_SRCRANK (1u << 0)
#define GEX_TI_EP (1u << 1)
#define GEX_TI_ENTRY (1u << 2)
#define GEX_TI_IS_REQ (1u << 3)
#define GEX_TI_IS_LONG (1u << 4)
#define GEX_TI_ALL 0x1fu
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP 1
#define GASNET_SUPPORTS_TI_ENTRY 1
#define GASNET_SUPPORTS_TI_IS_REQ 1
#define GASNET_SUPPORTS_TI_IS_LONG 1
/**@}*/

/** Facts about a message, as gex_Token_Info fills them in. */
typedef struct gex_Token_Info_t {
  gex_Rank_t gex_srcrank;          /**< GEX_TI_SRCRANK: jobrank of the sender. */
  gex_EP_t gex_ep;                 /**< GEX_TI_EP: the receiving endpoint. */
  const gex_AM_Entry_t* gex_entry; /**< GEX_TI_ENTRY: the handler; the library's. */
  int gex_is_req;                  /**< GEX_TI_IS_REQ: non-zero for a request. */
  int gex_is_long;                 /**< GEX_TI_IS_LONG: non-zero for a long message. */
} gex_Token_Info_t;

/** Answers, within a handler, where its message comes from and what it is.
 *
 * @param token  The handler's.
 * @param info   Receives the answers: the fields whose items are asked for.
 * @param mask   An OR of GEX_TI_...
 * @return The items that were filled in: all that were asked for.
 * @par Context
 * Handlers, in the thread that runs them.
 * @par Example
 * @code
 * gex_Token_Info_t info;
 * gex_Token_Info(token, &info, GEX_TI_SRCRANK);
 * ++received[info.gex_srcrank];
 * @endcode
 * @par Specification
 * GASNet-EX, "AM Token Info".
 * @see gex_Token_Info_t, gex_AM_ReplyShort
 */
GEX_EXPORT_ gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t mask);

/** @name Negotiated payload
 * Prepare a message whose payload is then built in place, and look at or abandon what was prepared.
 *
 * Prepare answers where, and how much, the caller may write; gex_AM_CommitRequestMedium and its
 * kind send. Between the two the thread is in handler context. It may hold one request and one
 * reply descriptor at a time.
 *
 * @param tm             A team, or a TM-pair.
 * @param rank           The peer.
 * @param token          Of the request that is replied to; in its handler only.
 * @param client_buf     Memory of the client's that will hold the payload, or NULL: the library
 *                       provides it, aligned for any type.
 * @param least_payload  Bytes that the caller needs at least; up to the limit that
 *                       gex_AM_MaxRequestMedium and its kind return with a PREPARE flag.
 * @param most_payload   Bytes that it can make use of, not below `least_payload`.
 * @param dest_addr      Long only: where the payload will go in the peer's segment, the same as at
 *                       Commit, or NULL: not known yet.
 * @param lc_opt         With a buffer of the client's as for gex_AM_RequestMedium; a variable
 *                       belongs to the library until Commit returns. Without one NULL.
 * @param flags          0 or #GEX_FLAG_IMMEDIATE. Of Cancel calls: 0.
 * @param numargs        Handler arguments that Commit will give, 0 to 16.
 * @param sd             The descriptor.
 * @return Prepare: a descriptor, until Commit or Cancel; with #GEX_FLAG_IMMEDIATE
 *         #GEX_AM_SRCDESC_NO_OP if there is no room. SrcDescAddr: the buffer. SrcDescSize: the
 *         bytes that may be committed, at least `least_payload`. Cancel: GASNET_OK, and the message
 *         is not sent.
 * @par Completion
 * A buffer of the library's goes back to it at Commit or Cancel. One of the client's is free again
 * at local completion, or at Cancel.
 * @par Context
 * PrepareRequest: any thread, not in handlers, not while holding an HSL; it may poll. PrepareReply:
 * a request's handler, once. Commit, Cancel and queries: the thread that prepared.
 * @par Example
 * @code
 * gex_AM_SrcDesc_t sd =
 *     gex_AM_PrepareRequestMedium(tm, peer, NULL, sizeof(struct item), 4096, NULL, 0, 1);
 * size_t count = gex_AM_SrcDescSize(sd) / sizeof(struct item);
 * fill(gex_AM_SrcDescAddr(sd), count);
 * gex_AM_CommitRequestMedium1(sd, ITEMS, count * sizeof(struct item), (gex_AM_Arg_t)count);
 * @endcode
 * @par Specification
 * GASNet-EX, "Negotiated-payload AM APIs".
 * @see gex_AM_CommitRequestMedium, gex_AM_MaxRequestMedium
 */
/**@{*/
/** A payload being built between Prepare and Commit or Cancel. */
typedef struct _gex_AM_SrcDesc* gex_AM_SrcDesc_t;
/** An immediate Prepare found no room. */
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)

/** Cancel calls exist. */
#define GASNET_SUPPORTS_AM_CANCEL 20240418L
/** Commit calls have a _v2 form. */
#define GASNET_SUPPORTS_AM_COMMIT_V2 20240906L
/** A buffer of the library's for a medium request is what the message is sent from. */
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1
/** The like for medium replies. */
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1

GEX_EXPORT_ void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
GEX_EXPORT_ size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);

GEX_EXPORT_ gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank,
                                                         const void* client_buf,
                                                         size_t least_payload, size_t most_payload,
                                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                                         unsigned int numargs);
GEX_EXPORT_ gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                                       size_t least_payload, size_t most_payload,
                                                       gex_Event_t* lc_opt, gex_Flags_t flags,
                                                       unsigned int numargs);
GEX_EXPORT_ gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank,
                                                       const void* client_buf, size_t least_payload,
                                                       size_t most_payload, void* dest_addr,
                                                       gex_Event_t* lc_opt, gex_Flags_t flags,
                                                       unsigned int numargs);
GEX_EXPORT_ gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                                     size_t least_payload, size_t most_payload,
                                                     void* dest_addr, gex_Event_t* lc_opt,
                                                     gex_Flags_t flags, unsigned int numargs);

GEX_EXPORT_ int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
/**@}*/

/* What the families call. `args` has room for numargs rounded up to a multiple of 4 and is aligned
 * to 16 bytes; NULL when numargs is 0. */
GEX_EXPORT_ int gex_am_request_short_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                      gex_Flags_t flags, unsigned int numargs,
                                      const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_request_medium_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                       const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                       gex_Flags_t flags, unsigned int numargs,
                                       const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_request_long_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                     const void* source_addr, size_t nbytes, void* dest_addr,
                                     gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int numargs,
                                     const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_reply_short_(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                    unsigned int numargs, const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_reply_medium_(gex_Token_t token, gex_AM_Index_t handler,
                                     const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                     gex_Flags_t flags, unsigned int numargs,
                                     const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_reply_long_(gex_Token_t token, gex_AM_Index_t handler,
                                   const void* source_addr, size_t nbytes, void* dest_addr,
                                   gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int numargs,
                                   const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_commit_request_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                              size_t nbytes, gex_Flags_t flags,
                                              unsigned int numargs, const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_commit_reply_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                            size_t nbytes, gex_Flags_t flags, unsigned int numargs,
                                            const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_commit_request_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                            size_t nbytes, void* dest_addr, gex_Flags_t flags,
                                            unsigned int numargs, const gex_AM_Arg_t* args);
GEX_EXPORT_ int gex_am_commit_reply_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                          size_t nbytes, void* dest_addr, gex_Flags_t flags,
                                          unsigned int numargs, const gex_AM_Arg_t* args);

#ifdef __cplusplus
}
#endif
#endif
