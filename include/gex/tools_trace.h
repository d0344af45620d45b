/* Trace and statistics of the GASNet kind. Part of gasnet_tools.h.
 *
 * This release traces nothing and counts nothing for these macros, as a GASNet configured without
 * them: GASNETT_TRACE_ENABLED is 0, printing and dumping evaluate their arguments and do nothing,
 * and a mask is kept as the text it was set to. From any thread and in AM handlers, but for the
 * masks, which are not for handlers. */
#ifndef GEX_TOOLS_TRACE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_TRACE_H_

#include <gex/platform.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* A name that clients refer to. */
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

/** Whether a GASNETT_TRACE_PRINTF, a GASNETT_STATS_PRINTF would print. */
#define GASNETT_TRACE_ENABLED 0
#define GASNETT_STATS_ENABLED 0
/** (format, ...), as printf. */
#define GASNETT_TRACE_PRINTF _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_TRACE_DUMP(reset) ((void)(reset))
#define GASNETT_STATS_DUMP(reset) ((void)(reset))

/** The mask last set in this process, "" at first; valid for ever. */
#define GASNETT_TRACE_GETMASK() gex_trace_getmask_()
#define GASNETT_STATS_GETMASK() gex_stats_getmask_()
#define GASNETT_TRACE_SETMASK(mask) gex_trace_setmask_(mask)
#define GASNETT_STATS_SETMASK(mask) gex_stats_setmask_(mask)
GEX_EXPORT_ const char* gex_trace_getmask_(void);
GEX_EXPORT_ const char* gex_stats_getmask_(void);
GEX_EXPORT_ void gex_trace_setmask_(const char* mask);
GEX_EXPORT_ void gex_stats_setmask_(const char* mask);

/** The line of the client's source that trace records name: GETSOURCELINE answers NULL and 0. */
#define GASNETT_TRACE_SETSOURCELINE(file, line) gex_trace_ignore_line_(file, line)
#define GASNETT_TRACE_GETSOURCELINE(file_p, line_p) gex_trace_no_line_(file_p, line_p)
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)

/** Whether operations that stay in the process are traced. */
#define GASNETT_TRACE_GET_TRACELOCAL() (0)
#define GASNETT_TRACE_SET_TRACELOCAL(enable) ((void)(enable))

#if defined(__cplusplus)
}
#endif
#endif
