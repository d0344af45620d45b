/* Active messages: handlers, limits, tokens, and the calls behind the families of am_families.h.
 * Spec: "Client-facing type for describing one AM handler", "AM limit queries", "AM Token Info",
 * "Fixed-payload AM APIs", "Negotiated-payload AM APIs". Part of gasnetex.h.
 *
 * Requests are sent from client context, replies from request handlers, at most one each. A
 * request may poll, and one that finds no room polls until there is some, unless
 * GEX_FLAG_IMMEDIATE makes it answer non-zero instead; replies always have their place. Messages
 * are not ordered. A request to an
 * endpoint of the calling process runs its handler, and that of its reply, in the calling thread
 * before it returns; it never fails and delivers nothing else. Medium payload is
 * aligned for any type in the handler and is its own until the handler returns; long payload is
 * at its destination when the handler starts. A message takes a copy of its payload along, so that
 * GEX_FLAG_LC_COPY_YES and NO, which exclude one another, change nothing here.
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

/** Index of a handler at an endpoint. */
typedef uint8_t gex_AM_Index_t;
/** One handler argument. */
typedef int32_t gex_AM_Arg_t;
/** Any handler; its true type follows from its registration:
 *   short         void (*)(gex_Token_t, gex_AM_Arg_t...)
 *   medium, long  void (*)(gex_Token_t, void *payload, size_t nbytes, gex_AM_Arg_t...)
 * In C a handler may stand in a table as it is, and in any language as (gex_AM_Fn_t)handler. Until
 * C23
 * `()` takes every function; since then it takes those without parameters, so the type is void *
 * there. The cast is needed with GCC's strict -std=c23, which has the type of a function again,
 * because -Wpedantic would warn of every cast to void *. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L && \
    ((defined(__clang__) && __clang_major__ >= 15) ||          \
     (!defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 13 && !defined(__STRICT_ANSI__)))
typedef void* gex_AM_Fn_t;
#else
typedef void (*gex_AM_Fn_t)();
#endif
/** Names a running handler; valid only within it. */
typedef struct _gex_Token* gex_Token_t;

/** Smallest index that a client may give a handler; the largest is 255. */
#define GEX_AM_INDEX_BASE 128

/** One handler of a table given to gex_EP_RegisterHandlers. */
typedef struct gex_AM_Entry_t {
  gex_AM_Index_t gex_index; /* GEX_AM_INDEX_BASE to 255, or 0: assign the highest free one */
  gex_AM_Fn_t gex_fnptr;
  gex_Flags_t gex_flags; /* a category and a direction: GEX_FLAG_AM_... */
  unsigned int gex_nargs;
  const void* gex_cdata; /* for the client, see gex_Token_Info */
  const char* gex_name;  /* for messages; may be NULL */
} gex_AM_Entry_t;

/** Adds handlers to an endpoint of this process; not collective. Fixed indices first, then zeros in
 * table order from 255 down; the assigned ones are written back. GASNET_ERR_BAD_ARG: index out of
 * range or taken, too many arguments, bad flags; GASNET_ERR_RESOURCE: no index left. */
GEX_EXPORT_ int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries);

/** Largest number of handler arguments: 16. */
GEX_EXPORT_ unsigned int gex_AM_MaxArgs(void);

/* Largest payload in bytes for the call with the same lc_opt, flags and numargs, between the local
 * endpoint of `tm` and (tm, other_rank); GEX_RANK_INVALID: the least over the team. With
 * GEX_FLAG_AM_PREPARE_LEAST_CLIENT or _ALLOC: the largest least_payload of the matching Prepare.
 * Symmetric, constant over the job, at least 512. Legal in handlers. */
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
/* Those of the reply to a token; request handlers only. */
GEX_EXPORT_ size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t* lc_opt,
                                          gex_Flags_t flags, unsigned int numargs);
GEX_EXPORT_ size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t* lc_opt,
                                            gex_Flags_t flags, unsigned int numargs);
/* No larger than any answer of the matching query above, PREPARE flags apart. */
GEX_EXPORT_ size_t gex_AM_LUBRequestLong(void);
GEX_EXPORT_ size_t gex_AM_LUBReplyLong(void);
GEX_EXPORT_ size_t gex_AM_LUBRequestMedium(void);
GEX_EXPORT_ size_t gex_AM_LUBReplyMedium(void);

/** What gex_Token_Info can return. */
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

typedef struct gex_Token_Info_t {
  gex_Rank_t gex_srcrank; /* jobrank of the sender */
  gex_EP_t gex_ep;        /* receiving endpoint */
  const gex_AM_Entry_t* gex_entry;
  int gex_is_req;
  int gex_is_long;
} gex_Token_Info_t;

/** Fills the fields that `mask` asks for and returns the mask of valid ones. Handlers only. */
GEX_EXPORT_ gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t mask);

/** A payload being built between Prepare and Commit or Cancel. */
typedef struct _gex_AM_SrcDesc* gex_AM_SrcDesc_t;
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)

#define GASNET_SUPPORTS_AM_CANCEL 20240418L
#define GASNET_SUPPORTS_AM_COMMIT_V2 20240906L
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1

/** Where to build the payload: the client's buffer if it gave one, else the library's, aligned for
 * any type. */
GEX_EXPORT_ void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
/** How many bytes may be committed. */
GEX_EXPORT_ size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);

/* Opens a descriptor for a payload of least_payload to most_payload bytes. The thread is in handler
 * context until it commits or cancels it; it may hold one request and one reply descriptor.
 * client_buf NULL: the library provides the buffer and lc_opt is NULL. With GEX_FLAG_IMMEDIATE the
 * answer may be GEX_AM_SRCDESC_NO_OP. dest_addr may be NULL, else it is the one of the Commit. */
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

/* Abandons a Prepare. Flags: 0. Returns GASNET_OK. */
GEX_EXPORT_ int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
GEX_EXPORT_ int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);

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
