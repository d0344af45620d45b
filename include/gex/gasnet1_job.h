/** @file
 * GASNet-1: types, start of the job, locks, no-interrupt sections, the way to the EX objects. Part
 * of gasnet.h. What gasnetex.h has as well (exit, polling, segment information, environment,
 * errors, barriers, wait modes) is in gasnet1_core.h.
 *
 * A program starts in one of two ways: gasnet_init and gasnet_attach, or gex_Client_Init with
 * #GEX_FLAG_USES_GASNET1. Either way it has both interfaces from then on, over the same client,
 * endpoint, team and segment, and one client of a process uses GASNet-1.
 *
 * In handlers, while holding a lock and in no-interrupt sections only these may be called:
 * gasnet_mynode, gasnet_nodes, the calls of handler-safe locks, gasnet_exit,
 * gasnet_QueryGexObjects, in request handlers replies, in all handlers gasnet_AMGetMsgSource; and
 * what the EX specification allows there.
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

/** @name Types (GASNet-1)
 * Names for EX types of the same meaning.
 * @par Specification
 * GASNet-1, "Core API" and "Extended API".
 * @see gex_Rank_t, gex_Event_t, gex_AM_Index_t, gex_RMA_Value_t, gex_HSL_t
 */
/**@{*/
typedef gex_Rank_t gasnet_node_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_HSL_t gasnet_hsl_t;

#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
/** A handle that is complete. */
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID
/**@}*/

/** Deprecated: the specification's major version.
 * @see GASNET_SPEC_VERSION_MAJOR
 */
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR

/** One handler of a table given to gasnet_attach.
 * @see gasnet_attach
 */
typedef struct gasnet_handlerentry_t {
  gasnet_handler_t index; /**< 128 to 255, or 0: assign one. */
  gex_AM_Fn_t fnptr;      /**< The handler. */
} gasnet_handlerentry_t;

/** Joins the job and makes its client.
 *
 * It is the first call of a program. Until gasnet_attach only gasnet_mynode, gasnet_nodes,
 * gasnet_getMaxGlobalSegmentSize, gasnet_getMaxLocalSegmentSize, gasnet_getenv and gasnet_exit may
 * be called.
 *
 * @param argc  Address of main's argc, or NULL, as for gex_Client_Init.
 * @param argv  Address of main's argv, or NULL.
 * @return GASNET_OK, or GASNET_ERR_RESOURCE if the process has its client already. A job that
 *         cannot start ends with one line.
 * @par Context
 * Collective over the job, in one thread. In a job started with GASNET_PSHM_NODES the processes are
 * forked here.
 * @par Example
 * @code
 * gasnet_init(&argc, &argv);
 * gasnet_attach(table, handlers, gasnet_getMaxLocalSegmentSize(), 0);
 * @endcode
 * @par Specification
 * GASNet-1, "Job Control Interface".
 * @see gasnet_attach, gex_Client_Init
 */
GEX_EXPORT_ int gasnet_init(int* argc, char*** argv);

/** Registers handlers and attaches the segment.
 *
 * Handlers serve requests and replies of every category and number of arguments; the number that
 * gex_Token_Info returns of one is UINT_MAX. They run only once the call has returned; what other
 * ranks send earlier waits. gex_EP_RegisterHandlers may add more.
 *
 * @param table          Handlers; NULL if there are none. Fixed indices first, then those of 0 from
 *                       255 down in the order of the table, written back.
 * @param numentries     Entries of the table.
 * @param segsize        Bytes of this rank's segment: a multiple of #GASNET_PAGESIZE, at most
 *                       gasnet_getMaxLocalSegmentSize(); may differ by rank. 0: no segment here.
 *                       The segment has that size, or the call fails.
 * @param minheapoffset  The same on all ranks; of no effect here.
 * @return GASNET_OK; GASNET_ERR_NOT_INIT without gasnet_init; GASNET_ERR_BAD_ARG for the caller's
 *         own arguments, or a minheapoffset that differs; GASNET_ERR_RESOURCE on a second call, if
 *         this host cannot hold the segments of its processes, or if another rank's call failed. If
 *         it fails on one rank it fails on all, and leaves everything as it was.
 * @par Ordering and visibility
 * There is a barrier.
 * @par Context
 * Collective over the job, once; one thread, not in handlers.
 * @par Specification
 * GASNet-1, "Job Control Interface".
 * @see gasnet_init, gasnet_getSegmentInfo, gex_Segment_Attach
 */
GEX_EXPORT_ int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize,
                              uintptr_t minheapoffset);

/** Returns the EX objects of the client that uses GASNet-1.
 *
 * @param client_p    Receives the client.
 * @param endpoint_p  Receives its primordial endpoint.
 * @param tm_p        Receives its primordial team.
 * @param segment_p   Receives the segment bound to the endpoint, or #GEX_SEGMENT_INVALID.
 * @par Context
 * Any thread, in handlers, and while holding an HSL; after gasnet_attach or gex_Client_Init. Every
 * output may be NULL.
 * @par Example
 * @code
 * gex_TM_t all;
 * gasnet_QueryGexObjects(NULL, NULL, &all, NULL);
 * @endcode
 * @par Specification
 * GASNet-EX, "Hybrid/transitional client support".
 * @see gasnet_init, gex_Client_Init
 */
GEX_EXPORT_ void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p,
                                        gex_TM_t* tm_p, gex_Segment_t* segment_p);

/** @name Rank and size of the job (GASNet-1)
 * Return this process's number in the job, from 0, and how many there are.
 *
 * @return gex_System_QueryJobRank() and gex_System_QueryJobSize().
 * @par Context
 * Any thread, in handlers, and while holding an HSL.
 * @par Example
 * @code
 * gasnet_node_t right = (gasnet_mynode() + 1) % gasnet_nodes();
 * @endcode
 * @par Specification
 * GASNet-1, "Job Environment Queries".
 * @see gex_System_QueryJobRank
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ gasnet_node_t gasnet_mynode(void) {
  return gex_System_QueryJobRank();
}
GEX_INLINE_ gasnet_node_t gasnet_nodes(void) {
  return gex_System_QueryJobSize();
}
#endif
/**@}*/

/** @name Handler-safe locks (GASNet-1)
 * The locks of gex_HSL_Lock under their older names. GASNet-1 has them released in the reverse
 * order; this library does not mind.
 *
 * @param hsl  The lock.
 * @return trylock: GASNET_OK with the lock held, or GASNET_ERR_NOT_READY.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
 * gasnet_hsl_lock(&lock);
 * total += amount;
 * gasnet_hsl_unlock(&lock);
 * @endcode
 * @par Specification
 * GASNet-1, "Atomicity Control".
 * @see gex_HSL_Lock, gex_HSL_Init
 */
/**@{*/
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
GEX_INLINE_ int gasnet_hsl_trylock(gasnet_hsl_t* hsl) {
  return gex_HSL_Trylock(hsl);
}
#endif
/**@}*/

GEX_EXPORT_ void gex_hold_interrupts_(void);
GEX_EXPORT_ void gex_resume_interrupts_(void);
/** @name No-interrupt sections (GASNet-1)
 * Between hold and resume no handler runs on the calling thread.
 *
 * Handlers of this library run in polls only, so these do nothing but check, in the checking
 * library, that sections do not nest and that nothing in them could poll.
 * @par Context
 * Any thread. Ignored in handlers and while holding a lock.
 * @par Example
 * @code
 * gasnet_hold_interrupts();
 * total += amount;
 * gasnet_resume_interrupts();
 * @endcode
 * @par Specification
 * GASNet-1, "Atomicity Control".
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_hold_interrupts(void) {
  if (GEX_UNLIKELY_(gex_proc_.observed)) gex_hold_interrupts_();
}
GEX_INLINE_ void gasnet_resume_interrupts(void) {
  if (GEX_UNLIKELY_(gex_proc_.observed)) gex_resume_interrupts_();
}
#endif
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
