/** @file
 * What gasnetex.h carries over from GASNet-1: errors, polling, exit, barriers with identifiers,
 * segment and node information, wait modes, thread information. Part of gasnetex.h.
 */
#ifndef GEX_GASNET1_CORE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_CORE_H_

#include <gex/objects.h>
#include <gex/poll.h>
#if !defined(GEX_FUNCTIONS) || defined(GEX_TWINS_)
#include <gex/fences.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Error codes
 * What calls that return an error code return.
 * @par Specification
 * GASNet-1, "Errors".
 * @see gasnet_ErrorName
 */
/**@{*/
/** Success: 0. */
#define GASNET_OK 0
/** The job has not been joined, or not yet attached. */
#define GASNET_ERR_NOT_INIT 10001
/** A resource has run out, or is taken. */
#define GASNET_ERR_RESOURCE 10002
/** A wrong argument. */
#define GASNET_ERR_BAD_ARG 10003
/** What was asked for is not complete yet; not an error. */
#define GASNET_ERR_NOT_READY 10004
/** Identifiers of a barrier did not agree. */
#define GASNET_ERR_BARRIER_MISMATCH 10005
/**@}*/

/** @name Text of error codes
 * Return the name of an error code, "GASNET_ERR_BAD_ARG", and a sentence about it.
 *
 * @param error  What a call has returned; any number.
 * @return Text of the library's, which lasts for ever and must not be written to, although its
 *         type, which is GASNet-1's, would allow it.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * int error = gex_Segment_Attach(&segment, team, bytes);
 * if (error) printf("%s: %s\n", gasnet_ErrorName(error), gasnet_ErrorDesc(error));
 * @endcode
 * @par Specification
 * GASNet-1, "Errors".
 */
/**@{*/
GEX_EXPORT_ char* gasnet_ErrorName(int error);
GEX_EXPORT_ char* gasnet_ErrorDesc(int error);
/**@}*/

GEX_EXPORT_ void gex_wait_pause_(uint32_t* spins);
#if !defined(GEX_FUNCTIONS) || defined(GEX_TWINS_)
/** Polls until a condition holds.
 *
 * @param condition  An expression that handlers, or other threads, can make true. It is evaluated
 *                   often; what it reads should be volatile or atomic.
 * @par Ordering and visibility
 * What was written before the condition was made true can be read afterwards.
 * @par Context
 * A statement, for any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * static volatile int replies;  // each reply handler adds 1
 * GASNET_BLOCKUNTIL(replies == expected);
 * @endcode
 * @par Specification
 * GASNet-1, "Core API".
 * @see gasnet_AMPoll
 */
#define GASNET_BLOCKUNTIL(condition) \
  do {                               \
    uint32_t gex_spins_ = 0;         \
    while (!(condition)) {           \
      gasnet_AMPoll();               \
      if (condition) break;          \
      gex_wait_pause_(&gex_spins_);  \
    }                                \
    gex_read_fence_();               \
  } while (0)
#endif

/** Ends this rank, and the job once all ranks have ended.
 *
 * Ranks that have not ended within a grace (GEX_EXIT_GRACE: a second; after code 0 at least three)
 * are ended. Output is flushed. With code 0 on all ranks MPI is finalized where the client has
 * initialized it and not finalized it.
 *
 * @param exitcode  The job's exit status is the first code of a rank that is not 0, in its low
 *                  eight bits; if these are 0, it is 1.
 * @par Context
 * Any thread, in handlers and in signal handlers. It does not return.
 * @par Example
 * @code
 * if (argc < 2) gasnet_exit(2);
 * @endcode
 * @par Specification
 * GASNet-1, "Job Control Interface".
 * @see gex_Client_Init
 */
GEX_EXPORT_ void gasnet_exit(int exitcode) GEX_ATTRIBUTE_((__noreturn__));

/** @name Barrier with identifiers
 * The barrier of GASNet-1 over the primordial team: split in two, with identifiers that must agree.
 *
 * A barrier is notified once and then waited for, or tried until it is complete, by each rank. Only
 * one is under way, and no collective of GASNet-EX on the primordial team beside it.
 *
 * @param id     The identifier, the same on all ranks whose flags are 0, and in notify and wait of
 *               one rank.
 * @param flags  0, or one GASNET_BARRIERFLAG_... value.
 * @return wait, try and barrier: GASNET_OK, or GASNET_ERR_BARRIER_MISMATCH, on all ranks, if
 *         identifiers differ or a rank reported a mismatch. try: GASNET_ERR_NOT_READY while the
 *         barrier is not complete. result: non-zero if the last completed barrier was anonymous on
 *         all ranks, else 0, with its identifier in `*id`; after wait only.
 * @par Ordering and visibility
 * As for gex_Coll_BarrierNB.
 * @par Context
 * Collective over the job; one thread, not in handlers, not while holding an HSL. wait polls, try
 * polls once.
 * @par Example
 * @code
 * gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
 * gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_Coll_BarrierNB, gasnet_coll_barrier
 */
/**@{*/
/** Matches any identifier. */
#define GASNET_BARRIERFLAG_ANONYMOUS 1
/** Reports a mismatch that the caller found. */
#define GASNET_BARRIERFLAG_MISMATCH 2
/** As ANONYMOUS, given by every rank, to notify and wait both. */
#define GASNET_BARRIERFLAG_UNNAMED 4
/** Reaches the barrier; does not wait. */
GEX_EXPORT_ void gasnet_barrier_notify(int id, int flags);
/** Polls until all ranks have reached it. */
GEX_EXPORT_ int gasnet_barrier_wait(int id, int flags);
/** Polls once. */
GEX_EXPORT_ int gasnet_barrier_try(int id, int flags);
/** Notifies and waits. */
GEX_EXPORT_ int gasnet_barrier(int id, int flags);
/** Returns the identifier of the last completed barrier. */
GEX_EXPORT_ int gasnet_barrier_result(int* id);
/**@}*/

/** @name Largest segments
 * Return the bytes of the largest segment that every process can attach, and that this one can.
 *
 * @return Bytes, a multiple of #GASNET_PAGESIZE; constant once the job is joined.
 * @par Context
 * Any thread; after gex_Client_Init or gasnet_init.
 * @par Example
 * @code
 * gex_Segment_Attach(&segment, team, gasnet_getMaxLocalSegmentSize());
 * @endcode
 * @par Specification
 * GASNet-1, "Job Control Interface".
 * @see gex_Segment_Attach, gasnet_attach
 */
/**@{*/
GEX_EXPORT_ uintptr_t gasnet_getMaxGlobalSegmentSize(void);
GEX_EXPORT_ uintptr_t gasnet_getMaxLocalSegmentSize(void);
/**@}*/

/** A process's segment, in its own addresses.
 * @see gasnet_getSegmentInfo
 */
typedef struct gasnet_seginfo_t {
  void* addr;     /**< Where it begins; NULL if there is none. */
  uintptr_t size; /**< Its bytes. */
} gasnet_seginfo_t;
/** Lists the segments that are bound to the primordial endpoints.
 *
 * @param seginfo_table  Receives entry i for rank i of the job.
 * @param numentries     Entries of the table; no more are filled in than there are ranks.
 * @return GASNET_OK; GASNET_ERR_NOT_INIT before the job is joined, or before gasnet_attach in a
 *         program that calls gasnet_init; GASNET_ERR_BAD_ARG for a null table.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnet_seginfo_t segments[64];
 * gasnet_getSegmentInfo(segments, 64);
 * gex_RMA_PutBlocking(team, peer, segments[peer].addr, block, sizeof block, 0);
 * @endcode
 * @par Specification
 * GASNet-1, "Job Environment Queries".
 * @see gex_EP_QueryBoundSegmentNB
 */
GEX_EXPORT_ int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries);

/** Where a process lives.
 * @see gasnet_getNodeInfo
 */
typedef struct gasnet_nodeinfo_t {
  gex_Rank_t host;      /**< The host, from 0. */
  gex_Rank_t supernode; /**< The neighborhood, from 0. */
  /** Within the caller's neighborhood: what to add to an address in the process's segment to reach
   * it from here. */
  uintptr_t offset;
} gasnet_nodeinfo_t;
/** Lists where the ranks of the job live.
 *
 * @param nodeinfo_table  Receives entry i for rank i.
 * @param numentries      Entries of the table; no more are filled in than there are ranks.
 * @return GASNET_OK, GASNET_ERR_NOT_INIT before the job is joined, or GASNET_ERR_BAD_ARG for a null
 *         table.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnet_nodeinfo_t places[64];
 * gasnet_getNodeInfo(places, 64);
 * int near = places[peer].host == places[gex_System_QueryJobRank()].host;
 * @endcode
 * @see gex_System_QueryNbrhdInfo, gex_System_QueryHostInfo
 */
GEX_EXPORT_ int gasnet_getNodeInfo(gasnet_nodeinfo_t* nodeinfo_table, int numentries);

/** Returns a variable of the job's environment.
 *
 * @param name  Its name.
 * @return Its value as the launcher had it, or NULL. It is the library's and must not be written
 *         to.
 * @par Context
 * Any thread; not in handlers. From gasnet_init or gex_Client_Init on.
 * @par Example
 * @code
 * const char* level = gasnet_getenv("MY_LEVEL");
 * @endcode
 * @par Specification
 * GASNet-1, "Job Environment Queries".
 * @see gasnett_getenv
 */
GEX_EXPORT_ char* gasnet_getenv(const char* name);

/** @name Wait mode
 * Choose how calls that wait do so.
 *
 * SPIN: they look for what they wait for without a break, and offer the processor to others only
 * with more ranks than processors. BLOCK: they sleep until it comes. SPINBLOCK: they look for a
 * short time first. Unless this is called, for about as long as such waits have taken lately.
 *
 * @param wait_mode  One GASNET_WAIT_... value.
 * @return GASNET_OK, or GASNET_ERR_BAD_ARG.
 * @par Context
 * Any thread; not in handlers. One setting for the process.
 * @par Example
 * @code
 * gasnet_set_waitmode(GASNET_WAIT_BLOCK);  // other programs want the processors
 * @endcode
 * @par Specification
 * GASNet-1, "Core API".
 */
/**@{*/
#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
GEX_EXPORT_ int gasnet_set_waitmode(int wait_mode);
/**@}*/

/** @name Thread information
 * What GASNet-1 has programs pass around for speed. It is not needed here, and accepted everywhere.
 *
 * @param info  What GASNET_GET_THREADINFO() returned.
 * @par Specification
 * GASNet-1, "Extended API".
 */
/**@{*/
typedef void* gasnet_threadinfo_t;
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) ((void)(info))
#define GASNET_BEGIN_FUNCTION() ((void)0)
/**@}*/

/** @name Constants of GASNet-1
 * What old clients test for: a number of ranks that static tables may rely on, no bound of
 * libgex's; and that segments need not begin at one address on all ranks.
 */
/**@{*/
#define GASNET_MAXNODES 1048576
#define GASNET_ALIGNED_SEGMENTS 0
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
