/** @file
 * Clients, endpoints, segments, teams: the objects of the interface. Part of gasnetex.h.
 *
 * A client is a user of the library within a job: a language's run-time system, a library, a
 * program. It has endpoints, which send and receive; a segment that is bound to an endpoint is the
 * memory that peers reach there; a team is an ordered set of endpoints of one client, whose members
 * name one another by rank.
 *
 * Handles are values of pointer size. The object is the library's, and lives until the call that
 * ends it, or to the end of the job.
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

/** @name Handles of objects
 * Name a client, an endpoint, a segment, a team and a memory kind.
 *
 * A team's handle may also be a TM-pair (gex_TM_Pair). Each type has an INVALID value, which is
 * zero.
 * @par Specification
 * GASNet-EX, "Basic types".
 * @see gex_Client_Init, gex_EP_Create, gex_Segment_Create, gex_TM_Split, gex_MK_Create
 */
/**@{*/
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
/** The kind of ordinary memory, which exists without being made. */
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)
/** There are kinds of memory of CUDA's devices; gex_MK_Create finds out whether a machine has any.
 */
#define GASNET_HAVE_MK_CLASS_CUDA_UVA 1
#define GASNET_HAVE_MK_CLASS_MULTIPLE 1 /**< There is a class besides the host's. */
/**@}*/

/** An address range of one process.
 * @see gex_VIS_VectorPutNB, gex_TM_Destroy
 */
typedef struct gex_Memvec_t {
  void* gex_addr; /**< Where it begins. */
  size_t gex_len; /**< Bytes. */
} gex_Memvec_t;

/** The largest number of endpoints of a client in one process, the primordial one included.
 *
 * It is what a message's header can name. An endpoint that is not created costs nothing.
 * @see gex_EP_Create
 */
#define GASNET_MAXEPS 64

/** @name Client data
 * Keep one pointer of the client's with an object.
 *
 * The library does nothing with it. Setting is not synchronised with reading in other threads.
 *
 * @param client  The client.
 * @param seg     The segment.
 * @param tm      The team; not a TM-pair.
 * @param ep      The endpoint.
 * @param val     The new pointer.
 * @return Query calls: the pointer last set, or NULL if none was.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * gex_EP_SetCData(endpoint, &state);  // in a handler: gex_EP_QueryCData(info.gex_ep)
 * @endcode
 * @par Specification
 * GASNet-EX, "Client-Data (CData)".
 */
/**@{*/
GEX_EXPORT_ void gex_Client_SetCData(gex_Client_t client, const void* val);
GEX_EXPORT_ void* gex_Client_QueryCData(gex_Client_t client);
GEX_EXPORT_ void gex_Segment_SetCData(gex_Segment_t seg, const void* val);
GEX_EXPORT_ void* gex_Segment_QueryCData(gex_Segment_t seg);
GEX_EXPORT_ void gex_TM_SetCData(gex_TM_t tm, const void* val);
GEX_EXPORT_ void* gex_TM_QueryCData(gex_TM_t tm);
GEX_EXPORT_ void gex_EP_SetCData(gex_EP_t ep, const void* val);
GEX_EXPORT_ void* gex_EP_QueryCData(gex_EP_t ep);
/**@}*/

/** Creates a client with its primordial endpoint and team; the first call of a process joins the
 * job.
 *
 * A process has up to 16 clients, independent of one another: each has endpoints, handlers, teams
 * and segments of its own.
 *
 * @param client_p     Receives the client.
 * @param ep_p         Receives the primordial endpoint, index 0, without a segment.
 * @param tm_p         Receives the primordial team: the primordial endpoints of all ranks of the
 *                     job, each at its jobrank.
 * @param client_name  A name that is unique in the process and the same on all ranks. The
 *                     specification asks for [A-Z][A-Z0-9_]+. It is copied.
 * @param argc         Address of main's argc, or NULL. Where a program with the label udp starts
 *                     its job itself, the number of ranks is taken out of the arguments.
 * @param argv         Address of main's argv, or NULL.
 * @param flags        The same on all ranks: 0 or an OR of #GEX_FLAG_USES_GASNET1, for one client
 *                     of a process, and #GEX_FLAG_DEFER_THREADS.
 * @return GASNET_OK, GASNET_ERR_BAD_ARG for a null output or a name that is taken, or
 *         GASNET_ERR_RESOURCE for one client too many. A job that cannot start ends with one line.
 * @par Ordering and visibility
 * There is a barrier over the job before the call returns.
 * @par Context
 * Collective over the job, in one thread, with no other call of the library under way; not in
 * handlers. In a job that is started with GASNET_PSHM_NODES the processes are forked here: other
 * threads of the caller do not exist in them.
 * @par Example
 * @code
 * gex_Client_t client;
 * gex_EP_t endpoint;
 * gex_TM_t team;
 * gex_Client_Init(&client, &endpoint, &team, "HELLO", &argc, &argv, 0);
 * printf("rank %u of %u\n", gex_TM_QueryRank(team), gex_TM_QuerySize(team));
 * gasnet_exit(0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_Client_t".
 * @see gex_Segment_Attach, gex_EP_RegisterHandlers, gasnet_exit
 */
GEX_EXPORT_ int gex_Client_Init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                const char* client_name, int* argc, char*** argv,
                                gex_Flags_t flags);
/** @name What a client was made with
 * Return the flags and the name that were given to gex_Client_Init.
 *
 * @param client  The client.
 * @return The flags; the name, which is the library's and lasts as long as the client.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * printf("client %s\n", gex_Client_QueryName(client));
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_Client_t".
 * @see gex_Client_Init
 */
/**@{*/
GEX_EXPORT_ gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
GEX_EXPORT_ const char* gex_Client_QueryName(gex_Client_t client);
/**@}*/

/** Returns the progress threads that a client with #GEX_FLAG_DEFER_THREADS is to start itself.
 *
 * @param client   The client, which calls this exactly once.
 * @param count_p  Receives their number: 1 with GEX_PROGRESS_THREAD=1 in GASNET_PAR, unless the job
 *                 has one rank or another client has the thread; otherwise 0.
 * @param info_p   Receives an array of that many descriptions, which is the library's and lasts to
 *                 the end of the job. The client starts a joinable POSIX thread for each that runs
 *                 gex_progress_fn(gex_progress_arg). That function does not return; the library
 *                 ends the thread.
 * @param flags    0.
 * @return GASNET_OK; GASNET_ERR_RESOURCE without the flag or on a second call; GASNET_ERR_BAD_ARG
 *         for null outputs or other flags.
 * @par Context
 * One thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * unsigned count;
 * const gex_ProgressThreadInfo_t* info;
 * gex_System_QueryProgressThreads(client, &count, &info, 0);
 * for (unsigned i = 0; i < count; ++i) {
 *   pthread_t thread;
 *   pthread_create(&thread, NULL, info[i].gex_progress_fn, info[i].gex_progress_arg);
 * }
 * @endcode
 * @par Specification
 * GASNet-EX 0.19, "gex_System_QueryProgressThreads".
 * @see gex_ProgressThreadInfo_t, gex_Client_Init
 */
GEX_EXPORT_ int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                                const gex_ProgressThreadInfo_t** info_p,
                                                gex_Flags_t flags);

/** @name What a segment is
 * Return the client, the flags, the address and the size of a segment.
 *
 * @param seg  A segment of this process.
 * @return The client that it belongs to; the flags it was made with; its base address in this
 *         process; its bytes.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * char* end = (char*)gex_Segment_QueryAddr(segment) + gex_Segment_QuerySize(segment);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_Segment_t".
 * @see gex_EP_QueryBoundSegmentNB, gex_EP_QuerySegment
 */
/**@{*/
GEX_EXPORT_ gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
GEX_EXPORT_ gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
GEX_EXPORT_ void* gex_Segment_QueryAddr(gex_Segment_t seg);
GEX_EXPORT_ uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);
/**@}*/

/** Allocates a segment on every rank and binds it to the primordial endpoint.
 *
 * @param segment_p  Receives the segment. Its memory is the library's, zero at first.
 * @param tm         The primordial team.
 * @param size       Bytes: a multiple of GASNET_PAGESIZE, not 0, at most
 *                   gasnet_getMaxLocalSegmentSize(); may differ by rank.
 * @return GASNET_OK; GASNET_ERR_BAD_ARG for another team or a null output; GASNET_ERR_RESOURCE when
 *         there is a segment already, or this host cannot hold the segments of its processes. A
 *         wrong size ends the job, because the other processes would wait for this one.
 * @par Ordering and visibility
 * There is a barrier: after the call every member's segment can be written to and read.
 * @par Context
 * Collective over `tm`, once for a client; one thread, not in handlers.
 * @par Example
 * @code
 * gex_Segment_t segment;
 * gex_Segment_Attach(&segment, team, 64 * GASNET_PAGESIZE);
 * double* mine = gex_Segment_QueryAddr(segment);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_Segment_t".
 * @see gex_Segment_Create, gex_EP_QueryBoundSegmentNB, gasnet_getMaxGlobalSegmentSize
 */
GEX_EXPORT_ int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size);

/** Makes a segment of this process, of the client's memory or of memory that the library allocates.
 *
 * Peers reach it once it is bound (gex_EP_BindSegment) and published (gex_EP_PublishBoundSegment).
 * The neighbors reach the library's memory by copying, as long as room is left in this process's
 * share of the neighborhood's memory (GASNET_MAX_SEGSIZE); everything else is reached by messages
 * or by the network.
 *
 * @param segment_p  Receives the segment.
 * @param client     The client that it belongs to.
 * @param address    Memory of the client's, which stays mapped until gex_Segment_Destroy; or NULL:
 *                   the library allocates, of the host zero at first.
 * @param length     Bytes, not 0.
 * @param kind       #GEX_MK_HOST, or a kind of this client's (gex_MK_Create), to whose device
 * memory of the client's belongs.
 * @param flags      0.
 * @return GASNET_OK, GASNET_ERR_BAD_ARG, or GASNET_ERR_RESOURCE when there is no memory.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * static double table[1 << 20];
 * gex_Segment_t segment;
 * gex_EP_t endpoint;
 * gex_Segment_Create(&segment, client, table, sizeof table, GEX_MK_HOST, 0);
 * gex_EP_Create(&endpoint, client, GEX_EP_CAPABILITY_RMA, 0);
 * gex_EP_BindSegment(endpoint, segment, 0);
 * gex_EP_PublishBoundSegment(team, &endpoint, 1, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, memory kinds: "gex_Segment_Create".
 * @see gex_Segment_Destroy, gex_EP_BindSegment
 */
GEX_EXPORT_ int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client,
                                   gex_Addr_t address, uintptr_t length, gex_MK_t kind,
                                   gex_Flags_t flags);

/** Ends a segment, and its memory with it unless that is the client's.
 *
 * @param segment  A segment that is bound to no endpoint and that no rank communicates with any
 *                 more.
 * @param flags    0.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * gex_EP_BindSegment(endpoint, GEX_SEGMENT_INVALID, 0);
 * gex_Segment_Destroy(segment, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_Segment_t".
 * @see gex_Segment_Create
 */
GEX_EXPORT_ void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);

/** @name The segment of a peer
 * Return where the segment is that is bound to the endpoint (tm, rank).
 *
 * @param tm           A team, or a TM-pair.
 * @param rank         The rank of the endpoint in it.
 * @param owneraddr_p  Receives its address in the process that owns it: the one to give to put and
 *                     get. May be NULL.
 * @param localaddr_p  Receives its address in the calling process, for direct access, or NULL where
 *                     it is not mapped here. May be NULL.
 * @param size_p       Receives its bytes; 0 if there is none, or it was not published to this
 *                     process. May be NULL.
 * @param flags        0 or #GEX_FLAG_IMMEDIATE, which makes the call legal in handlers.
 * @return QueryBoundSegmentNB: an event, until which the outputs belong to the call; this library
 *         answers at once and returns #GEX_EVENT_INVALID. With #GEX_FLAG_IMMEDIATE it may be
 *         #GEX_EVENT_NO_OP for an endpoint of another process. QueryBound: 0, or non-zero if there
 *         is no segment; the outputs are then not written.
 * @par Context
 * Any thread. In handlers and while holding an HSL only with #GEX_FLAG_IMMEDIATE.
 * @par Example
 * @code
 * void* there;
 * uintptr_t bytes;
 * gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &there, NULL, &bytes, 0));
 * if (bytes >= sizeof block) gex_RMA_PutBlocking(tm, peer, there, &block, sizeof block, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_EP_t" and "Operations on gex_Segment_t".
 * @see gex_Segment_QueryAddr, gex_EP_PublishBoundSegment
 */
/**@{*/
GEX_EXPORT_ gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                                   void** localaddr_p, uintptr_t* size_p,
                                                   gex_Flags_t flags);
/** The older form, for clients of releases before 2021.9. */
GEX_EXPORT_ int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                       void** localaddr_p, uintptr_t* size_p);
/**@}*/

/** @name What a team is
 * Return the client, the caller's endpoint, the flags, the caller's rank and the size of a team.
 *
 * @param tm  A team. Of a TM-pair QueryClient and QueryEP answer; its rank is the jobrank and its
 *            size the job's.
 * @return The client; the endpoint that the caller is in the team with; the flags that it was made
 *         with; the caller's rank, from 0; the number of members.
 * @par Context
 * Any thread, in handlers, and while holding an HSL. Constant for a team.
 * @par Example
 * @code
 * gex_Rank_t right = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_TM_TranslateRankToJobrank, gex_System_QueryJobRank
 */
/**@{*/
GEX_EXPORT_ gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
GEX_EXPORT_ gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
GEX_EXPORT_ gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
GEX_EXPORT_ gex_Rank_t gex_tm_rank_(gex_TM_t tm);
GEX_EXPORT_ gex_Rank_t gex_tm_size_(gex_TM_t tm);
#ifdef GEX_BODIES_
GEX_INLINE_ gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) {
  if (GEX_UNLIKELY_(!GEX_IS_READABLE_TEAM_(tm))) return gex_tm_rank_(tm);
  return GEX_TEAM_PREFIX_(tm)->rank;
}
GEX_INLINE_ gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) {
  if (GEX_UNLIKELY_(!GEX_IS_READABLE_TEAM_(tm))) return gex_tm_size_(tm);
  return GEX_TEAM_PREFIX_(tm)->size;
}
#endif
/**@}*/

/** Splits a team into teams by colour.
 *
 * Members with one colour are in one new team, in the order of their keys, and among equal keys in
 * the order of their ranks in the parent.
 *
 * @param new_tm_p      Receives the caller's new team. NULL: the caller takes part without becoming
 *                      a member of any.
 * @param parent_tm     The team to split; not a TM-pair.
 * @param color         Which of the new teams; 0 or more.
 * @param key           Position in it.
 * @param scratch_addr  Memory in the segment bound to the caller's endpoint that the library may
 *                      use for the team until it is destroyed, or NULL. It receives no client data
 *                      in that time. May differ by rank.
 * @param scratch_size  Its bytes, the same on all members of a new team.
 * @param flags         0 or #GEX_FLAG_TM_NO_SCRATCH, the same on all members of a new team: there
 *                      is no scratch. #GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED makes the call a query
 *                      that creates nothing. #GEX_FLAG_TM_SCRATCH_SIZE_MIN is its deprecated equal.
 * @return 0, or for a query the bytes of scratch to pass: a page, and 0 where `new_tm_p` is NULL.
 * @par Context
 * Collective over the parent; not in handlers.
 * @par Example
 * @code
 * gex_TM_t row;
 * gex_Rank_t me = gex_TM_QueryRank(tm);
 * gex_TM_Split(&row, tm, me / WIDTH, me % WIDTH, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_TM_Create, gex_TM_Destroy
 */
GEX_EXPORT_ size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key,
                                void* scratch_addr, size_t scratch_size, gex_Flags_t flags);

/** Creates teams from lists of members.
 *
 * A list may name several endpoints of one process, and different callers may give different lists;
 * the lists of one call that are not equal must not overlap.
 *
 * @param new_tms        Receives a handle for each endpoint of the caller's process in `args`, in
 *                       the order of the list.
 * @param num_new_tms    How many those are.
 * @param parent_tm      The team whose members make the call; not a TM-pair.
 * @param args           The members of the new team by rank: each the rank in the parent, or with
 *                       #GEX_FLAG_RANK_IS_JOBRANK the jobrank, and the index of an endpoint there.
 *                       The same on all members of the new team. Read within the call.
 * @param numargs        Entries of `args`; 0: the caller takes part without becoming a member.
 * @param scratch_addrs  Addresses in the members' bound segments, or with
 *                       #GEX_FLAG_SCRATCH_SEG_OFFSET offsets into them. How many is chosen by a
 *                       flag. Read within the call; the memory belongs to the team until it is
 *                       destroyed.
 * @param scratch_size   Bytes at each address, single-valued for a new team.
 * @param flags          One of #GEX_FLAG_TM_SYMMETRIC_SCRATCH (one address, for all members),
 *                       #GEX_FLAG_TM_LOCAL_SCRATCH (one for each local member),
 *                       #GEX_FLAG_TM_GLOBAL_SCRATCH (one for each member), #GEX_FLAG_TM_NO_SCRATCH;
 *                       optionally #GEX_FLAG_RANK_IS_JOBRANK, #GEX_FLAG_SCRATCH_SEG_OFFSET and the
 *                       size queries of gex_TM_Split.
 * @return 0, or for a query the bytes of scratch to pass.
 * @par Context
 * Collective over the parent; not in handlers.
 * @par Example
 * @code
 * gex_EP_Location_t pair[2] = {{0, 0}, {1, 0}};
 * gex_TM_t team;
 * int member = gex_TM_QueryRank(tm) < 2;
 * gex_TM_Create(&team, member, tm, pair, member ? 2 : 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_TM_Split, gex_TM_Destroy
 */
GEX_EXPORT_ size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                                 gex_EP_Location_t* args, size_t numargs, gex_Addr_t* scratch_addrs,
                                 size_t scratch_size, gex_Flags_t flags);

/** Destroys a team.
 *
 * @param tm         A team other than the primordial one, whose operations are all complete.
 * @param scratch_p  Receives the scratch that was given when the team was made, as an address of
 *                   this process. May be NULL.
 * @param flags      0, or #GEX_FLAG_GLOBALLY_QUIESCED, single-valued: no member has anything left
 *                   to do on the team, which saves a barrier.
 * @return Non-zero if there was scratch and `*scratch_p` has been written, else 0.
 * @par Context
 * Collective over the team; not in handlers.
 * @par Example
 * @code
 * gex_Memvec_t scratch;
 * if (gex_TM_Destroy(team, &scratch, 0)) give_back(scratch.gex_addr, scratch.gex_len);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_TM_Split, gex_TM_Create
 */
GEX_EXPORT_ int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags);

/** Names the endpoints of one index on all ranks, without making a team.
 *
 * In calls between two ranks the pair stands for a team, and the rank beside it is a jobrank. It is
 * a value: making one allocates nothing, and nothing ends it. Pairs of equal arguments are equal.
 *
 * @param local_ep         The caller's endpoint.
 * @param remote_ep_index  Index of the endpoint at the peer; it must exist when it is used.
 * @return The pair. It is not for collective calls and atomic domains.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * gex_RMA_PutBlocking(gex_TM_Pair(endpoint, 1), jobrank, there, here, nbytes, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_EP_Create, gex_TM_TranslateRankToEP
 */
GEX_EXPORT_ gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);

/** @name Ranks of teams and of the job
 * Translate between ranks of a team, ranks of the job and endpoints.
 *
 * @param tm       A team, or a TM-pair, whose ranks are jobranks.
 * @param rank     A rank of `tm`.
 * @param jobrank  A rank of the job.
 * @param flags    0.
 * @return RankToJobrank: the process of the member. JobrankToRank: the member that is in that
 *         process, or #GEX_RANK_INVALID if there is none. RankToEP: process and endpoint index of
 *         the member.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(team, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_TM_t".
 * @see gex_TM_QueryRank, gex_System_QueryJobRank
 */
/**@{*/
GEX_EXPORT_ gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
GEX_EXPORT_ gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
GEX_EXPORT_ gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
                                                       gex_Flags_t flags);
/**@}*/

/** Makes an endpoint of a client in this process.
 *
 * It has a table of handlers of its own, and no segment.
 *
 * @param ep_p          Receives the endpoint. Its index is the next one of this process and client.
 * @param client        The client.
 * @param capabilities  What it will be used for: an OR of GEX_EP_CAPABILITY_..., not 0.
 * @param flags         0 or an OR of GEX_FLAG_HINT_ACCEL_..., which make no difference here.
 * @return GASNET_OK, GASNET_ERR_BAD_ARG, or GASNET_ERR_RESOURCE beyond #GASNET_MAXEPS.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Specification
 * GASNet-EX, "Operations on gex_EP_t".
 * @see gex_EP_BindSegment, gex_TM_Pair, gex_EP_RegisterHandlers, gex_Segment_Create
 */
GEX_EXPORT_ int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client,
                              gex_EP_Capabilities_t capabilities, gex_Flags_t flags);

/** Binds a segment to an endpoint: what peers read and write there.
 *
 * A segment may be bound to several endpoints. This process can communicate with it at once, others
 * after gex_EP_PublishBoundSegment.
 *
 * @param ep       An endpoint without a segment, with which no rank communicates during the call.
 * @param segment  A segment of the same client; #GEX_SEGMENT_INVALID unbinds the one it has.
 * @param flags    0.
 * @return GASNET_OK or GASNET_ERR_BAD_ARG.
 * @par Context
 * Any thread; not collective; not in handlers.
 * @par Example
 * @code
 * gex_EP_BindSegment(endpoint, segment, 0);
 * gex_EP_PublishBoundSegment(team, &endpoint, 1, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, memory kinds: "gex_EP_BindSegment".
 * @see gex_EP_PublishBoundSegment, gex_Segment_Create
 */
GEX_EXPORT_ int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);

/** @name What an endpoint is
 * Return the client, the flags, the bound segment and the index of an endpoint.
 *
 * @param ep  An endpoint of this process.
 * @return The client; the flags it was made with; its segment, or #GEX_SEGMENT_INVALID; its index
 *         within client and process, 0 for the primordial one.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * gex_TM_t pairs = gex_TM_Pair(endpoint, gex_EP_QueryIndex(endpoint));
 * @endcode
 * @par Specification
 * GASNet-EX, "Operations on gex_EP_t".
 * @see gex_EP_Create, gex_EP_BindSegment
 */
/**@{*/
GEX_EXPORT_ gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
GEX_EXPORT_ gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
GEX_EXPORT_ gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
GEX_EXPORT_ gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
/**@}*/

/** Makes the segments that are bound to endpoints of this process reachable by the members of a
 * team.
 *
 * They are reached through any team or TM-pair that names the endpoints. An endpoint without a
 * segment is announced as one.
 *
 * @param tm       The team; not a TM-pair.
 * @param eps      Distinct endpoints of this process and of `tm`'s client, with which no rank
 *                 communicates during the call. Read within the call. May differ by rank.
 * @param num_eps  Entries of `eps`; 0 is allowed.
 * @param flags    0.
 * @return GASNET_OK or GASNET_ERR_BAD_ARG.
 * @par Ordering and visibility
 * After the call the members' endpoints can be communicated with.
 * @par Context
 * Collective over the team; not in handlers.
 * @par Specification
 * GASNet-EX, memory kinds: "gex_EP_PublishBoundSegment".
 * @see gex_EP_BindSegment, gex_Segment_Create, gex_EP_QueryBoundSegmentNB
 */
GEX_EXPORT_ int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps,
                                           gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
