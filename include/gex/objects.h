/* Clients, endpoints, segments, teams: the objects of the interface. Spec: "Operations on
 * gex_Client_t / gex_Segment_t / gex_TM_t / gex_EP_t", "Client-Data". Part of gasnetex.h.
 *
 * Query and CData calls may be made in handlers and while holding an HSL, unless noted otherwise.
 * Collective calls are made by all members of the team in the same order, by one thread at a time,
 * outside handlers. Calls that return int return GASNET_OK or a GASNET_ERR_ code.
 */
#ifndef GEX_OBJECTS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_OBJECTS_H_

#include <gex/layout.h>
#include <gex/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _gex_Client* gex_Client_t;
typedef struct _gex_EP* gex_EP_t;
typedef struct _gex_Segment* gex_Segment_t;
typedef struct _gex_TM* gex_TM_t;
typedef struct _gex_MK* gex_MK_t;

#define GEX_CLIENT_INVALID ((gex_Client_t)0)
#define GEX_EP_INVALID ((gex_EP_t)0)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_TM_INVALID ((gex_TM_t)0)
#define GEX_MK_INVALID ((gex_MK_t)0)
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)

/** An address range. */
typedef struct gex_Memvec_t {
  void* gex_addr;
  size_t gex_len; /* bytes */
} gex_Memvec_t;

/** Largest number of endpoints of a client in one process, the primordial one included: what a
 * message's header can name. One that is not created costs nothing. */
#define GASNET_MAXEPS 64

/* Client data: one pointer per object, NULL at first */
GEX_EXPORT_ void gex_Client_SetCData(gex_Client_t client, const void* val);
GEX_EXPORT_ void* gex_Client_QueryCData(gex_Client_t client);
GEX_EXPORT_ void gex_Segment_SetCData(gex_Segment_t seg, const void* val);
GEX_EXPORT_ void* gex_Segment_QueryCData(gex_Segment_t seg);
GEX_EXPORT_ void gex_TM_SetCData(gex_TM_t tm, const void* val);
GEX_EXPORT_ void* gex_TM_QueryCData(gex_TM_t tm);
GEX_EXPORT_ void gex_EP_SetCData(gex_EP_t ep, const void* val);
GEX_EXPORT_ void* gex_EP_QueryCData(gex_EP_t ep);

/* Client */

/** Creates a client with its primordial endpoint and team; the first call joins the job. Collective
 * over the job, with a barrier before it returns. `client_name` matches [A-Z][A-Z0-9_]+, is unique
 * in the process and, as `flags`, the same on all ranks. A process has up to 16 clients,
 * independent of each other: each has endpoints, handlers, teams and segments of its own.
 * `argc`/`argv` are main's, or NULL; where a program with the label udp starts its job itself, the
 * number of ranks is taken out of them. Flags: GEX_FLAG_USES_GASNET1 (one client only),
 * GEX_FLAG_DEFER_THREADS. Errors: GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE. In a job started with
 * GASNET_PSHM_NODES the processes are forked here. */
GEX_EXPORT_ int gex_Client_Init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                const char* client_name, int* argc, char*** argv,
                                gex_Flags_t flags);
GEX_EXPORT_ gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
GEX_EXPORT_ const char* gex_Client_QueryName(gex_Client_t client);

/** For clients that passed GEX_FLAG_DEFER_THREADS, exactly once: the progress threads to start.
 * *count_p becomes 1 with GEX_PROGRESS_THREAD=1 in GASNET_PAR, unless the job has one rank or
 * another client has the thread; otherwise 0. The client starts a joinable thread that runs
 * gex_progress_fn(gex_progress_arg), which does not return. GASNET_ERR_RESOURCE without that flag
 * or on a second call, GASNET_ERR_BAD_ARG for NULL outputs or non-zero flags. */
GEX_EXPORT_ int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                                const gex_ProgressThreadInfo_t** info_p,
                                                gex_Flags_t flags);

/* Segment */
GEX_EXPORT_ gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
GEX_EXPORT_ gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
/** Base address of the segment in this process. */
GEX_EXPORT_ void* gex_Segment_QueryAddr(gex_Segment_t seg);
/** Length of the segment in bytes. */
GEX_EXPORT_ uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);

/** Allocates a segment of `size` bytes (a non-zero multiple of GASNET_PAGESIZE, at most
 * gasnet_getMaxLocalSegmentSize(); may differ by rank) and binds it to the endpoint of `tm`, the
 * primordial team. Collective, with a barrier; once per client. Errors: GASNET_ERR_BAD_ARG for
 * another team or a null output; GASNET_ERR_RESOURCE when there is a segment already, or this host
 * cannot hold the segments of its processes. A wrong size ends the job: the other processes would
 * wait for this one. */
GEX_EXPORT_ int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size);

/** Makes a segment of `length` bytes at `address`, memory of the client's, or with NULL of memory
 * that the library allocates, zero at first. Not collective. The neighbors reach the library's by
 * copying, as long as room is left in this process's share of the neighborhood's memory
 * (GASNET_MAX_SEGSIZE), and all other by messages. `kind`: GEX_MK_HOST. Flags: 0. Errors:
 * GASNET_ERR_BAD_ARG; GASNET_ERR_RESOURCE when there is no memory. */
GEX_EXPORT_ int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client,
                                   gex_Addr_t address, uintptr_t length, gex_MK_t kind,
                                   gex_Flags_t flags);

/** Ends a segment that is bound to no endpoint and that no rank communicates with any more, its
 * memory with it unless that is the client's. Not collective. Flags: 0. */
GEX_EXPORT_ void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);

/** Address and size of the segment bound to the endpoint (tm, rank). Outputs may be NULL and are
 * written when the event completes: address in its owner, address in this process or NULL, bytes;
 * a size of 0 means there is none or it was never published here. Flags: GEX_FLAG_IMMEDIATE may
 * answer GEX_EVENT_NO_OP for an endpoint of another process and makes the call legal in handlers.
 * `tm` may be a TM-pair. This library answers at once, with GEX_EVENT_INVALID. */
GEX_EXPORT_ gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                                   void** localaddr_p, uintptr_t* size_p,
                                                   gex_Flags_t flags);
/** The older form: 0 and the outputs, or non-zero with the outputs untouched. */
GEX_EXPORT_ int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                       void** localaddr_p, uintptr_t* size_p);

/* Team */
GEX_EXPORT_ gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
GEX_EXPORT_ gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
GEX_EXPORT_ gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
GEX_EXPORT_ gex_Rank_t gex_tm_rank_(gex_TM_t tm);
GEX_EXPORT_ gex_Rank_t gex_tm_size_(gex_TM_t tm);
#ifdef GEX_BODIES_
/** The caller's rank in the team. */
GEX_INLINE_ gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) {
  if (GEX_UNLIKELY_(!GEX_IS_READABLE_TEAM_(tm))) return gex_tm_rank_(tm);
  return GEX_TEAM_PREFIX_(tm)->rank;
}
/** Number of members of the team. */
GEX_INLINE_ gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) {
  if (GEX_UNLIKELY_(!GEX_IS_READABLE_TEAM_(tm))) return gex_tm_size_(tm);
  return GEX_TEAM_PREFIX_(tm)->size;
}
#endif

/** Splits a team by colour, ranks ordered by key, then by parent rank. Collective over the parent.
 * A NULL `new_tm_p` takes part without becoming a member. Scratch [scratch_addr, +scratch_size)
 * lies in the bound segment and belongs to the library until the team is destroyed, or
 * GEX_FLAG_TM_NO_SCRATCH (single-valued per colour). With GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED: a
 * collective query that creates nothing and returns the size to pass, 0 for a NULL `new_tm_p`;
 * ..._MIN is its deprecated twin, which warns. */
GEX_EXPORT_ size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key,
                                void* scratch_addr, size_t scratch_size, gex_Flags_t flags);

/** Creates teams from explicit member lists. Collective over the parent. `args` names the members
 * of the new team in rank order by (rank in parent, or jobrank with GEX_FLAG_RANK_IS_JOBRANK;
 * endpoint index), the same on all of its members; `new_tms` receives one handle for each endpoint
 * of the caller in the list, in list order. numargs 0 takes part without becoming a member.
 * Exactly one of GEX_FLAG_TM_{SYMMETRIC,LOCAL,GLOBAL,NO}_SCRATCH selects what `scratch_addrs`
 * holds: one address for all members, one for each local member, one for each member, nothing.
 * GEX_FLAG_SCRATCH_SEG_OFFSET: they are offsets into the bound segment. Size queries as in Split.
 */
GEX_EXPORT_ size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                                 gex_EP_Location_t* args, size_t numargs, gex_Addr_t* scratch_addrs,
                                 size_t scratch_size, gex_Flags_t flags);

/** Destroys a team other than the primordial one. Collective over it; all its operations are
 * complete. *scratch_p (may be NULL) receives the scratch given at creation. Returns non-zero if
 * there was scratch to give back, else 0. GEX_FLAG_GLOBALLY_QUIESCED asserts that no member has
 * anything left to do on the team, and saves a barrier. */
GEX_EXPORT_ int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags);

/** Names endpoints without a team: (pair, jobrank) is the endpoint `remote_ep_index` of that
 * process, reached from `local_ep`. A value, never allocated; not for collective calls. */
GEX_EXPORT_ gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);

/** Rank of the job of a member, and back (GEX_RANK_INVALID for a process that is no member).
 * Not for handlers. */
GEX_EXPORT_ gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
GEX_EXPORT_ gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
/** Process and endpoint index of a member. Flags: 0. Not for handlers. */
GEX_EXPORT_ gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
                                                       gex_Flags_t flags);

/* Endpoint */

/** Makes an endpoint of the client, with a table of handlers of its own and no segment. Not
 * collective. `capabilities`: an OR of GEX_EP_CAPABILITY_..., what it will be used for. Flags:
 * GEX_FLAG_HINT_ACCEL_..., which have nothing to choose here. Errors: GASNET_ERR_BAD_ARG;
 * GASNET_ERR_RESOURCE beyond GASNET_MAXEPS. */
GEX_EXPORT_ int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client,
                              gex_EP_Capabilities_t capabilities, gex_Flags_t flags);

/** Binds a segment of the same client to an idle endpoint that has none; GEX_SEGMENT_INVALID
 * unbinds the one it has. A segment may be bound to several endpoints. Not collective: this process
 * can communicate with it at once, others after gex_EP_PublishBoundSegment. Flags: 0. Errors:
 * GASNET_ERR_BAD_ARG. */
GEX_EXPORT_ int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);

GEX_EXPORT_ gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
GEX_EXPORT_ gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
/** The bound segment, or GEX_SEGMENT_INVALID. */
GEX_EXPORT_ gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
GEX_EXPORT_ gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);

/** Makes the segments bound to `eps` (distinct endpoints of this process and of tm's client, idle
 * during the call; their number may differ by rank, 0 included) reachable by all members of `tm`,
 * through whichever team or TM-pair. An endpoint without a segment is announced as one. Collective.
 * Flags: 0. */
GEX_EXPORT_ int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps,
                                           gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
