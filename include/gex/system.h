/** @file
 * The job, hosts, neighborhoods, limits of the process. Part of gasnetex.h.
 */
#ifndef GEX_SYSTEM_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_SYSTEM_H_

#include <gex/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Rank and size of the job
 * Return this process's position in the job, and the number of its processes.
 *
 * @return The jobrank, from 0; the number of ranks. Both are 0 before gex_Client_Init or
 *         gasnet_init.
 * @par Context
 * Any thread, in handlers, and while holding an HSL. Constant once the job is joined.
 * @par Example
 * @code
 * if (gex_System_QueryJobRank() == 0) printf("%u ranks\n", gex_System_QueryJobSize());
 * @endcode
 * @par Specification
 * GASNet-EX, "Job rank" and "Job size".
 * @see gex_TM_QueryRank, gasnet_mynode
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ gex_Rank_t gex_System_QueryJobRank(void) {
  return gex_proc_.jobrank;
}
GEX_INLINE_ gex_Rank_t gex_System_QueryJobSize(void) {
  return gex_proc_.jobsize;
}
#endif
/**@}*/

/** @name Verbose errors
 * Return, and switch, whether errors that are only returned also print a line.
 *
 * They do at first. GASNET_QUIET=1 silences them together with all warnings.
 *
 * @param enable  1 or 0.
 * @return GetVerboseErrors: non-zero if they print.
 * @par Context
 * Any thread, in handlers, and while holding an HSL. One setting for the process.
 * @par Example
 * @code
 * gex_System_SetVerboseErrors(0);
 * if (gex_EP_RegisterHandlers(endpoint, entries, 1) != GASNET_OK) use_other_indices();
 * @endcode
 * @par Specification
 * GASNet-EX, "Utility".
 * @see gasnet_ErrorName
 */
/**@{*/
GEX_EXPORT_ int gex_System_GetVerboseErrors(void);
GEX_EXPORT_ void gex_System_SetVerboseErrors(int enable);
/**@}*/

/** Returns how many live threads of the client may be inside the library at once.
 *
 * Threads that never entered the library, and those that have ended, do not count.
 *
 * @return The number for this process: 1 in GASNET_SEQ, else #GASNETT_MAX_THREADS or what
 *         GASNET_MAX_THREADS in the environment asks for.
 * @par Context
 * Any thread, in handlers, and while holding an HSL. Constant once the job is joined.
 * @par Specification
 * GASNet-EX 0.19, "gex_System_QueryMaxThreads".
 */
GEX_EXPORT_ uint64_t gex_System_QueryMaxThreads(void);

/** Returns how many threads of the library may run the client's handlers.
 *
 * @return 0: handlers run in threads of the client that poll, and nowhere else. It is the value of
 *         #GASNET_HIDDEN_AM_CONCURRENCY_LEVEL.
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Specification
 * GASNet-EX 0.19, "gex_System_QueryHiddenAMConcurrencyLevel".
 */
GEX_EXPORT_ int gex_System_QueryHiddenAMConcurrencyLevel(void);

/** @name Neighborhoods and hosts
 * Return the processes that share memory with this one, those on this host, and how many of both
 * groups the job has.
 *
 * A neighborhood is the processes that have mapped one another's segments; it lies within a host.
 * Each process is in one of each.
 *
 * @param info_p           Receives an array of the members by increasing jobrank, the caller's
 *                         process among them: gex_jobrank of each. It is the library's, and lasts
 *                         to the end of the job.
 * @param info_count_p     Receives the number of members.
 * @param my_info_index_p  Receives the caller's place in the array.
 * @param nbrhd_set_size   Receives the number of neighborhoods of the job.
 * @param nbrhd_set_rank   Receives which of them is the caller's, from 0.
 * @param host_set_size    Receives the number of hosts.
 * @param host_set_rank    Receives which of them is the caller's, from 0.
 * @par Context
 * Any thread, in handlers, and while holding an HSL; after gex_Client_Init. Every output may be
 * NULL.
 * @par Example
 * @code
 * gex_RankInfo_t* neighbors;
 * gex_Rank_t count;
 * gex_System_QueryNbrhdInfo(&neighbors, &count, NULL);
 * for (gex_Rank_t i = 0; i < count; ++i) share_memory_with(neighbors[i].gex_jobrank);
 * @endcode
 * @par Specification
 * GASNet-EX, "Neighborhood and Host".
 * @see gex_EP_QueryBoundSegmentNB, gasnet_getNodeInfo
 */
/**@{*/
struct gex_RankInfo_ {
  gex_Rank_t gex_jobrank;
};
/** A member of a neighborhood or host. */
typedef const struct gex_RankInfo_ gex_RankInfo_t;

/** Of the caller's neighborhood. */
GEX_EXPORT_ void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                           gex_Rank_t* my_info_index_p);
/** Of the caller's host. */
GEX_EXPORT_ void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                          gex_Rank_t* my_info_index_p);
/** Of the job. */
GEX_EXPORT_ void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size, gex_Rank_t* nbrhd_set_rank,
                                            gex_Rank_t* host_set_size, gex_Rank_t* host_set_rank);
/**@}*/

/** @name Roles of progress threads
 * What a progress thread drives: an OR in gex_ProgressThreadInfo_t.
 * @see gex_System_QueryProgressThreads
 */
/**@{*/
/** What arrives. */
#define GEX_THREAD_ROLE_RCV 1u
/** What is sent. */
#define GEX_THREAD_ROLE_SND 2u
/**@}*/
/** A progress thread that a client with #GEX_FLAG_DEFER_THREADS starts itself.
 * @see gex_System_QueryProgressThreads
 */
typedef struct gex_ProgressThreadInfo_t {
  const char* gex_device_list;     /**< What it drives: the network's name. */
  unsigned int gex_thread_roles;   /**< An OR of GEX_THREAD_ROLE_... */
  void* (*gex_progress_fn)(void*); /**< What the thread runs; it does not return. */
  void* gex_progress_arg;          /**< The argument of that function. */
} gex_ProgressThreadInfo_t;

#ifdef __cplusplus
}
#endif
#endif
