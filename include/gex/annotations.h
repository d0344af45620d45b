/** @file
 * Annotations: a layer above libgex states what its threads wait for and do. Calls of libgex's own,
 * which no specification has. Included by itself.
 *
 * Hang reports (docs/hangs.md) show what a thread waits for, and traces (docs/tracing.md) what it
 * does, in the words of the layer instead of the calls that it makes.
 */
#ifndef GEX_ANNOTATIONS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_ANNOTATIONS_H_

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Readers of annotations
 * @see gex_Annotation_QueryReaders
 */
/**@{*/
/** Intervals are recorded in a trace. */
#define GEX_ANNOTATION_TRACE 1
/** The job's progress is watched, and waits are reported unasked. */
#define GEX_ANNOTATION_HANG_REPORT 2
/**@}*/

/** The readers of annotations in this job.
 *
 * They do not change after gex_Client_Init: a layer asks once, and makes no annotation without
 * need.
 *
 * @return An OR of #GEX_ANNOTATION_TRACE and #GEX_ANNOTATION_HANG_REPORT; 0 before gex_Client_Init.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * if (gex_Annotation_QueryReaders() & GEX_ANNOTATION_TRACE) gex_Annotation_Begin("task");
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_Annotation_Begin, gex_Annotation_Wait
 */
GEX_EXPORT_ int gex_Annotation_QueryReaders(void);

/** @name What a thread waits for
 * The calling thread waits, in a loop of the layer's own that polls. A report, which may be asked
 * for in any job (`gexrun --report`), shows it between the two calls.
 *
 * Wait takes some nanoseconds where it changes nothing, and 100 where it does: a loop makes it in
 * each turn once its polls have found nothing for some microseconds, because what the layer runs
 * between two polls may have waited for something else.
 *
 * @param text     What follows "waits in": the layer's call, its place, what for. Copied, up to 159
 *                 bytes. Ranks that wait for one thing have one text: without their numbers.
 * @param jobrank  Whose action is awaited; #GEX_RANK_INVALID if that is not known.
 * @param event    A current event that is awaited, of which the report shows what it stands for, or
 *                 #GEX_EVENT_INVALID.
 * @par Context
 * Any thread, not in handlers; no effect before gex_Client_Init.
 * @par Example
 * @code
 * int turns = 0;
 * while (!finished) {
 *   gasnet_AMPoll();
 *   if (++turns > 1000) gex_Annotation_Wait("task_wait (solver.c:41)", peer, GEX_EVENT_INVALID);
 * }
 * if (turns > 1000) gex_Annotation_EndWait();
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_Annotation_QueryReaders
 */
/**@{*/
/** The thread waits for that, until gex_Annotation_EndWait. */
GEX_EXPORT_ void gex_Annotation_Wait(const char* text, gex_Rank_t jobrank, gex_Event_t event);
/** It has come so far: the wait is over. */
GEX_EXPORT_ void gex_Annotation_EndWait(void);
/**@}*/

/** @name What a thread does
 * An interval of the calling thread's in the trace, with what happens within it. Intervals are
 * nested, like calls.
 *
 * @param name  Its name, the same at both ends. Copied: 55 bytes, and 400 names in all.
 * @par Context
 * Any thread, and in handlers; no effect without a trace.
 * @par Example
 * @code
 * gex_Annotation_Begin("task");
 * compute();
 * gex_Annotation_End("task");
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_Annotation_QueryReaders
 */
/**@{*/
/** The interval begins. */
GEX_EXPORT_ void gex_Annotation_Begin(const char* name);
/** It ends. */
GEX_EXPORT_ void gex_Annotation_End(const char* name);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
