/** @file
 * Fatal errors, backtraces, waiting for a debugger, signals. Part of gasnet_tools.h.
 */
#ifndef GEX_TOOLS_ERROR_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_ERROR_H_

#include <gex/platform.h>
#include <gex/tools_compiler.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** @name Fatal errors
 * End the job with a message on standard error.
 *
 * Where in the source the call stands is written first, but by _nopos; then the message, its lines
 * as lines, up to 2 KiB; then a backtrace if GASNET_BACKTRACE=1. A wait for a debugger follows if
 * GASNET_FREEZE_ON_ERROR=1, and the end of the job with the exit status of abort(), 134.
 *
 * @par Synopsis
 * @code
 * void gasnett_fatalerror(const char *format, ...);
 * void gasnett_fatalerror_nopos(const char *format, ...);
 * @endcode
 * @param format  As of printf, with its arguments after it.
 * @par Context
 * Any thread, and in handlers. They do not return.
 * @par Example
 * @code
 * if (bytes < needed) gasnett_fatalerror("%zu bytes are too few: %zu are needed", bytes, needed);
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 * @see gasnett_print_backtrace, gasnett_current_loc
 */
/**@{*/
#define gasnett_fatalerror(...) \
  gex_fatalerror_at_(__FILE__, __LINE__, GASNETT_CURRENT_FUNCTION, __VA_ARGS__)
GEX_EXPORT_ void gex_fatalerror_at_(const char* file, int line, const char* function,
                                    const char* format, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 4, 5)));
GEX_EXPORT_ void gasnett_fatalerror_nopos(const char* format, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 1, 2)));
/**@}*/

/** The place where it stands as text, "function(...) at file:line": a char * that the caller frees.
 * @see gasnett_fatalerror
 */
#define gasnett_current_loc gex_current_loc_(__FILE__, __LINE__, GASNETT_CURRENT_FUNCTION)
GEX_EXPORT_ char* gex_current_loc_(const char* file, int line, const char* function);

/** A way to print a backtrace.
 * @see gasnett_backtrace_user
 */
typedef struct gasnett_backtrace_type_t {
  const char* name;   /**< Its name, for GASNET_BACKTRACE_TYPE. */
  int (*fnp)(int fd); /**< Writes the calling thread's stack to `fd`; 0 if it could. */
  int threadsupport;  /**< Non-zero if it may be used in a program with threads. */
} gasnett_backtrace_type_t;

/** @name Backtraces
 * Write the stack of the calling thread, one frame a line.
 *
 * Mechanisms are tried in the order of GASNET_BACKTRACE_TYPE, a list separated by commas, until one
 * succeeds; without it the program's own (gasnett_backtrace_user), then EXECINFO.
 *
 * @param exename  argv[0]; may be NULL.
 * @param fd       The file descriptor to write to.
 * @return print_backtrace: 0, or non-zero if no mechanism succeeded.
 * @par Context
 * Any thread, and in handlers; in signal handlers after gasnett_backtrace_init.
 * @par Example
 * @code
 * gasnett_backtrace_init(argv[0]);
 * gasnett_print_backtrace(STDERR_FILENO);
 * @endcode
 * @par Specification
 * GASNet tools, "Backtracing and debugger attach".
 * @see gasnett_fatalerror, gasnett_backtrace_type_t
 */
/**@{*/
/** A program that defines this variable itself adds a mechanism, preferred to those of the library.
 * In the library it is all zero. */
extern GEX_EXPORT_ gasnett_backtrace_type_t gasnett_backtrace_user;

/** Loads what a backtrace needs, so that a later one allocates nothing. */
GEX_EXPORT_ void gasnett_backtrace_init(const char* exename);
/** Writes the stack. */
GEX_EXPORT_ int gasnett_print_backtrace(int fd);
/** What fatal errors call: prints if GASNET_BACKTRACE=1. A program may put another function here.
 */
extern GEX_EXPORT_ int (*gasnett_print_backtrace_ifenabled)(int fd);

/**@}*/

/** @name Wait for a debugger
 * Print on standard error how to attach a debugger, and sleep until a flag is 0.
 *
 * @param flag       The flag, which the debugger sets to 0.
 * @param flag_name  The name by which a debugger finds it.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * volatile int frozen = 1;
 * gasnett_freezeForDebuggerNow(&frozen, "frozen");
 * @endcode
 * @par Specification
 * GASNet tools, "Backtracing and debugger attach".
 */
/**@{*/
GEX_EXPORT_ void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flag_name);
/** Freezes in that way, with a flag of the library's, if GASNET_FREEZE_ON_ERROR=1. */
GEX_EXPORT_ void gasnett_freezeForDebuggerErr(void);

/**@}*/

/** Ends this process at once: no exit handler, no flush. It does not return.
 *
 * @param exit_code  The exit status.
 * @par Context
 * Any thread, in handlers and in signal handlers.
 * @see gasnet_exit
 */
GEX_EXPORT_ void gasnett_killmyprocess(int exit_code) __attribute__((__noreturn__));

/** @name Signals
 * Install a handler for a signal, as signal(2).
 *
 * @param signal_number  The signal. One that cannot be handled ends the job with one line.
 * @param handler        A function, SIG_DFL or SIG_IGN.
 * @return The handler before.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * gasnett_reghandler(SIGUSR1, SIG_IGN);
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 */
/**@{*/
typedef void (*gasnett_sighandlerfn_t)(int);
GEX_EXPORT_ gasnett_sighandlerfn_t gasnett_reghandler(int signal_number,
                                                      gasnett_sighandlerfn_t handler);
/**@}*/

#if defined(__cplusplus)
}
#endif
#endif
