/* Job, hosts, neighborhoods, limits of the process. Spec: "Job rank", "Neighborhood and Host",
 * "Utility". Part of gasnetex.h.
 *
 * Everything here may be called from any thread and in handlers; results are constant after
 * gex_Client_Init, except the verbose-errors switch.
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

#ifdef GEX_BODIES_
/** This process's position in the job. */
GEX_INLINE_ gex_Rank_t gex_System_QueryJobRank(void) {
  return gex_proc_.jobrank;
}
/** Number of processes in the job. */
GEX_INLINE_ gex_Rank_t gex_System_QueryJobSize(void) {
  return gex_proc_.jobsize;
}
#endif

/** Whether certain errors that are only returned also print a line. Default: they do (spec,
 * "Utility"); GASNET_QUIET=1 silences them with all other warnings. */
GEX_EXPORT_ int gex_System_GetVerboseErrors(void);
/** Switches those lines on (1) or off (0). */
GEX_EXPORT_ void gex_System_SetVerboseErrors(int enable);

/** Number of live client threads that may be inside the library at once; 1 for SEQ. */
GEX_EXPORT_ uint64_t gex_System_QueryMaxThreads(void);

/** Whether library threads may run client handlers: 0, they never do. */
GEX_EXPORT_ int gex_System_QueryHiddenAMConcurrencyLevel(void);

/** A member of a neighborhood or host. */
struct gex_RankInfo_ {
  gex_Rank_t gex_jobrank;
};
typedef const struct gex_RankInfo_ gex_RankInfo_t;

/** The processes whose memory this one has mapped, by increasing jobrank; the caller is
 * (*info_p)[*my_info_index_p]. Outputs may be NULL. The array is the library's. */
GEX_EXPORT_ void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                           gex_Rank_t* my_info_index_p);
/** The processes on this host; see gex_System_QueryNbrhdInfo. */
GEX_EXPORT_ void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                          gex_Rank_t* my_info_index_p);
/** How many neighborhoods and hosts the job has, and which of them are the caller's. */
GEX_EXPORT_ void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size, gex_Rank_t* nbrhd_set_rank,
                                            gex_Rank_t* host_set_size, gex_Rank_t* host_set_rank);

#define GEX_THREAD_ROLE_RCV 1u
#define GEX_THREAD_ROLE_SND 2u
/** A progress thread that a client which passed GEX_FLAG_DEFER_THREADS is to start. */
typedef struct gex_ProgressThreadInfo_t {
  const char* gex_device_list;
  unsigned int gex_thread_roles;
  void* (*gex_progress_fn)(void*);
  void* gex_progress_arg;
} gex_ProgressThreadInfo_t;

#ifdef __cplusplus
}
#endif
#endif
