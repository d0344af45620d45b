/* GASNet-1: types, start of the job, locks, no-interrupt sections, the way to the EX objects. Part
 * of gasnet.h. Spec: GASNet-1 1.8, "Job Control Interface", "Job Environment Queries", "Atomicity
 * Control"; what gasnetex.h has as well (exit, polling, segment information, environment, errors,
 * barriers, wait modes) is in gasnet1_core.h.
 *
 * A program starts in one of two ways: gasnet_init and gasnet_attach, or gex_Client_Init with
 * GEX_FLAG_USES_GASNET1. Either way it has both interfaces from then on, over the same client,
 * endpoint, team and segment, and one client of a process uses GASNet-1.
 *
 * In handlers, while holding a lock and in no-interrupt sections only these may be called:
 * gasnet_mynode, gasnet_nodes, gasnet_hsl_*, gasnet_exit, gasnet_QueryGexObjects, in request
 * handlers gasnet_AMReply*, in all handlers gasnet_AMGetMsgSource; and what the EX specification
 * allows there.
 */
#ifndef GEX_GASNET1_JOB_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_JOB_H_

#include <gex/am.h>
#include <gex/gasnet1_core.h>
#include <gex/hsl.h>
#include <gex/objects.h>
#include <gex/rma.h>
#include <gex/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each is the EX type of the same meaning. */
typedef gex_Rank_t gasnet_node_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_HSL_t gasnet_hsl_t;

#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID

/** Deprecated: the specification's major version. */
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR

/** One handler of a table given to gasnet_attach. */
typedef struct gasnet_handlerentry_t {
  gasnet_handler_t index; /* 128 to 255, or 0: assign one */
  gex_AM_Fn_t fnptr;
} gasnet_handlerentry_t;

/** Joins the job and makes its client. The first call of a program, in one thread; argc and argv
 * are main's, or NULL, as of gex_Client_Init. Until gasnet_attach only gasnet_mynode, gasnet_nodes,
 * gasnet_getMax... SegmentSize, gasnet_getenv and gasnet_exit may be called. A job that cannot
 * start ends in one line; GASNET_ERR_RESOURCE if the process has its client already. In a job
 * started with GASNET_PSHM_NODES the processes are forked here. */
GEX_EXPORT_ int gasnet_init(int* argc, char*** argv);

/** Registers handlers and attaches the segment. Collective, with a barrier; once.
 *
 * `table` (NULL if there are none) is as for gex_EP_RegisterHandlers, which may add more: fixed
 * indices first, then those of 0 from 255 down in table order, written back. A handler serves
 * requests and replies of every category and number of arguments; the number that gex_Token_Info
 * returns of it is UINT_MAX.
 * Handlers may run before the call returns, for ranks in which it has; their indices are in the
 * table by then.
 * `segsize` is in bytes, a multiple of GASNET_PAGESIZE, at most gasnet_getMaxLocalSegmentSize(); it
 * may differ by rank. 0: no segment here. The segment has that size or the call fails.
 * `minheapoffset` is the same on all ranks, and of no effect here.
 *
 * Errors: GASNET_ERR_NOT_INIT without gasnet_init; GASNET_ERR_BAD_ARG for the caller's own
 * arguments, or a minheapoffset that differs; GASNET_ERR_RESOURCE on a second call, if this host
 * cannot hold the segments of its processes, or if another rank's call failed. If it fails on one
 * rank it fails on all, and leaves everything as it was. Handlers of the table run only once it has
 * returned; what other ranks send earlier waits. */
GEX_EXPORT_ int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize,
                              uintptr_t minheapoffset);

/** The objects of the client that uses GASNet-1; outputs may be NULL. After gasnet_attach or
 * gex_Client_Init. Any context. */
GEX_EXPORT_ void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p,
                                        gex_TM_t* tm_p, gex_Segment_t* segment_p);

#ifdef GEX_BODIES_
/** This process's number in the job, and how many there are. Any context. */
GEX_INLINE_ gasnet_node_t gasnet_mynode(void) {
  return gex_System_QueryJobRank();
}
GEX_INLINE_ gasnet_node_t gasnet_nodes(void) {
  return gex_System_QueryJobSize();
}
#endif

/* Handler-safe locks: those of hsl.h. GASNet-1 has them released in the reverse order; this library
 * does not mind. */
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_hsl_init(gasnet_hsl_t* hsl) {
  gex_HSL_Init(hsl);
}
GEX_INLINE_ void gasnet_hsl_destroy(gasnet_hsl_t* hsl) {
  gex_HSL_Destroy(hsl);
}
GEX_INLINE_ void gasnet_hsl_lock(gasnet_hsl_t* hsl) {
  gex_HSL_Lock(hsl);
}
GEX_INLINE_ void gasnet_hsl_unlock(gasnet_hsl_t* hsl) {
  gex_HSL_Unlock(hsl);
}
/** GASNET_OK with the lock held, or GASNET_ERR_NOT_READY. */
GEX_INLINE_ int gasnet_hsl_trylock(gasnet_hsl_t* hsl) {
  return gex_HSL_Trylock(hsl);
}
#endif

GEX_EXPORT_ void gex_hold_interrupts_(void);
GEX_EXPORT_ void gex_resume_interrupts_(void);
/* No-interrupt sections: between hold and resume no handler runs on the calling thread. Handlers of
 * this library run in polls only, so these do nothing but see, in checked mode, that sections do
 * not nest and that nothing in them could poll. Ignored in handlers and while holding a lock. */
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_hold_interrupts(void) {
  if (GEX_UNLIKELY_(gex_proc_.observed)) gex_hold_interrupts_();
}
GEX_INLINE_ void gasnet_resume_interrupts(void) {
  if (GEX_UNLIKELY_(gex_proc_.observed)) gex_resume_interrupts_();
}
#endif

#ifdef __cplusplus
}
#endif
#endif
