/** @file
 * Trace and statistics of the GASNet kind. Part of gasnet_tools.h. What libgex traces is described
 * in docs/tracing.md.
 */
#ifndef GEX_TOOLS_TRACE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_TRACE_H_

#include <gex/platform.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** @name Trace and statistics
 * Print into a trace or a statistics file, and control what goes there: nothing in this release, as
 * in a GASNet configured without them.
 *
 * Printing and dumping evaluate their arguments and do nothing; a mask is kept as the text it was
 * set to, "" at first; GETSOURCELINE answers NULL and 0; GET_TRACELOCAL is 0.
 *
 * @par Synopsis
 * @code
 * void GASNETT_TRACE_PRINTF(const char *format, ...);
 * void GASNETT_TRACE_PRINTF_FORCE(const char *format, ...);
 * void GASNETT_STATS_PRINTF(const char *format, ...);
 * void GASNETT_STATS_PRINTF_FORCE(const char *format, ...);
 * void GASNETT_TRACE_DUMP(int reset);
 * void GASNETT_STATS_DUMP(int reset);
 * const char *GASNETT_TRACE_GETMASK(void);
 * const char *GASNETT_STATS_GETMASK(void);
 * void GASNETT_TRACE_SETMASK(const char *mask);
 * void GASNETT_STATS_SETMASK(const char *mask);
 * void GASNETT_TRACE_SETSOURCELINE(const char *file, unsigned line);
 * void GASNETT_TRACE_GETSOURCELINE(const char **file_p, unsigned *line_p);
 * void GASNETT_TRACE_FREEZESOURCELINE(void);
 * void GASNETT_TRACE_UNFREEZESOURCELINE(void);
 * int GASNETT_TRACE_GET_TRACELOCAL(void);
 * void GASNETT_TRACE_SET_TRACELOCAL(int enable);
 * @endcode
 * @param format  As of printf, with its arguments after it.
 * @param reset   Whether to begin anew.
 * @param mask    Which records are wanted.
 * @param file    The source file that records are to name.
 * @param line    The line.
 * @param file_p  Receives the file.
 * @param line_p  Receives the line.
 * @param enable  Whether to trace operations that stay in the process.
 * @par Context
 * Any thread, and in handlers, but for the masks, which are not for handlers.
 * @par Example
 * @code
 * if (GASNETT_TRACE_ENABLED) GASNETT_TRACE_PRINTF("step %d", number);
 * @endcode
 */
/**@{*/
/** A name that clients refer to; it does nothing. */
static inline void _gasnett_trace_printf_noop(const char* format, ...) {
  (void)format;
}
static inline void gex_trace_no_line_(const char** file, unsigned int* line) {
  if (file) *file = 0;
  if (line) *line = 0;
}
static inline void gex_trace_ignore_line_(const char* file, unsigned int line) {
  (void)file;
  (void)line;
}

/* Whether a GASNETT_TRACE_PRINTF, a GASNETT_STATS_PRINTF would print. */
#define GASNETT_TRACE_ENABLED 0
#define GASNETT_STATS_ENABLED 0
#define GASNETT_TRACE_PRINTF _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_TRACE_DUMP(reset) ((void)(reset))
#define GASNETT_STATS_DUMP(reset) ((void)(reset))

#define GASNETT_TRACE_GETMASK() gex_trace_getmask_()
#define GASNETT_STATS_GETMASK() gex_stats_getmask_()
#define GASNETT_TRACE_SETMASK(mask) gex_trace_setmask_(mask)
#define GASNETT_STATS_SETMASK(mask) gex_stats_setmask_(mask)
GEX_EXPORT_ const char* gex_trace_getmask_(void);
GEX_EXPORT_ const char* gex_stats_getmask_(void);
GEX_EXPORT_ void gex_trace_setmask_(const char* mask);
GEX_EXPORT_ void gex_stats_setmask_(const char* mask);

#define GASNETT_TRACE_SETSOURCELINE(file, line) gex_trace_ignore_line_(file, line)
#define GASNETT_TRACE_GETSOURCELINE(file_p, line_p) gex_trace_no_line_(file_p, line_p)
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)

#define GASNETT_TRACE_GET_TRACELOCAL() (0)
#define GASNETT_TRACE_SET_TRACELOCAL(enable) ((void)(enable))
/**@}*/

#if defined(__cplusplus)
}
#endif
#endif
