/* What gasnetex.h carries over from GASNet-1: errors, polling, exit, barriers, segment and node
 * information, wait modes, thread information. Spec: GASNet-1 1.8, docs/gasnet.texi.
 */
#ifndef GEX_GASNET1_CORE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_CORE_H_

#include <gex/objects.h>
#include <gex/poll.h>
#ifdef GEX_BODIES_
#include <gex/fences.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_RESOURCE 10002
#define GASNET_ERR_BAD_ARG 10003
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

/** The name of an error code, and a sentence about it: constants, though not by their type, which
 * GASNet-1 has so. Any context. */
GEX_EXPORT_ char* gasnet_ErrorName(int error);
GEX_EXPORT_ char* gasnet_ErrorDesc(int error);

GEX_EXPORT_ void gex_wait_pause_(uint32_t* spins);
#ifdef GEX_BODIES_
/** Polls until `condition` (any expression that handlers can make true) holds. */
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

/** Ends this rank, and the job once all ranks have ended. Those that have not within a grace
 * (GEX_EXIT_GRACE, a second; after code 0 at least three) are ended. The job's exit status is the
 * first code that is not 0, in its low eight bits; if these are 0, it is 1. With code 0 on all
 * ranks MPI is finalized where the client has initialized it and not finalized it. Legal in
 * handlers and signal handlers. */
GEX_EXPORT_ void gasnet_exit(int exitcode) GEX_ATTRIBUTE_((__noreturn__));

/* The GASNet-1 barrier over the primordial team: split in two, with identifiers that must agree. A
 * mismatch gives GASNET_ERR_BARRIER_MISMATCH on all ranks. Not concurrent with collectives on the
 * primordial team. */
#define GASNET_BARRIERFLAG_ANONYMOUS 1 /* matches any id */
#define GASNET_BARRIERFLAG_MISMATCH 2  /* reports a mismatch that the caller found */
#define GASNET_BARRIERFLAG_UNNAMED 4   /* as ANONYMOUS; for notify and wait both */
GEX_EXPORT_ void gasnet_barrier_notify(int id, int flags);
GEX_EXPORT_ int gasnet_barrier_wait(int id, int flags);
/** Polls once; GASNET_ERR_NOT_READY while the barrier is not complete. */
GEX_EXPORT_ int gasnet_barrier_try(int id, int flags);
GEX_EXPORT_ int gasnet_barrier(int id, int flags);
/** Id of the last completed barrier in *id; non-zero if it was anonymous. After wait only. */
GEX_EXPORT_ int gasnet_barrier_result(int* id);

/** Largest segment that every process can attach, and that this one can; bytes. */
GEX_EXPORT_ uintptr_t gasnet_getMaxGlobalSegmentSize(void);
GEX_EXPORT_ uintptr_t gasnet_getMaxLocalSegmentSize(void);

/** A process's segment, in its own addresses. */
typedef struct gasnet_seginfo_t {
  void* addr;
  uintptr_t size;
} gasnet_seginfo_t;
/** Segments bound to the primordial endpoints of the first `numentries` ranks; (NULL, 0) where
 * there is none. GASNET_ERR_NOT_INIT before the job is joined, or gasnet_attach made. */
GEX_EXPORT_ int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries);

/** Where a process lives: its host and neighborhood (lowest-numbered first), and what to add to an
 * address in its segment to reach it from here (meaningful within the caller's neighborhood). */
typedef struct gasnet_nodeinfo_t {
  gex_Rank_t host;
  gex_Rank_t supernode;
  uintptr_t offset;
} gasnet_nodeinfo_t;
/** Of the first `numentries` ranks. GASNET_ERR_NOT_INIT before the job is joined. */
GEX_EXPORT_ int gasnet_getNodeInfo(gasnet_nodeinfo_t* nodeinfo_table, int numentries);

/** A variable of the job's environment, or NULL. */
GEX_EXPORT_ char* gasnet_getenv(const char* name);

/* How waiting calls wait. BLOCK and SPINBLOCK give up the processor sooner; libgex never sleeps in
 * the kernel for a message. */
#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
GEX_EXPORT_ int gasnet_set_waitmode(int wait_mode);

/* Thread information of GASNet-1: not needed here, accepted everywhere. */
typedef void* gasnet_threadinfo_t;
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) ((void)(info))
#define GASNET_BEGIN_FUNCTION() ((void)0)

#define GASNET_MAXNODES 1024
#define GASNET_ALIGNED_SEGMENTS 0

#ifdef __cplusplus
}
#endif
#endif
