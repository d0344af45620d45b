/* Fatal errors, backtraces, waiting for a debugger, signals. Part of gasnet_tools.h.
 *
 * May be called from any thread and in AM handlers. From a signal handler: printing a backtrace
 * after gasnett_backtrace_init, and gasnett_killmyprocess. */
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

/** gasnett_fatalerror(format, ...): writes where in the source it stands and the message to
 * standard error, the message's lines as lines, up to 2 KiB; then a backtrace if
 * GASNET_BACKTRACE=1, a wait for a debugger if GASNET_FREEZE_ON_ERROR=1, and the end of the job
 * with the exit status of abort(), 134.
 */
#define gasnett_fatalerror(...) \
  gex_fatalerror_at_(__FILE__, __LINE__, GASNETT_CURRENT_FUNCTION, __VA_ARGS__)
GEX_EXPORT_ void gex_fatalerror_at_(const char* file, int line, const char* function,
                                    const char* format, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 4, 5)));
/** The same without the place. */
GEX_EXPORT_ void gasnett_fatalerror_nopos(const char* format, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 1, 2)));

/** "function(...) at file:line", a char * that the caller frees. */
#define gasnett_current_loc gex_current_loc_(__FILE__, __LINE__, GASNETT_CURRENT_FUNCTION)
GEX_EXPORT_ char* gex_current_loc_(const char* file, int line, const char* function);

/** A way to print a backtrace. */
typedef struct gasnett_backtrace_type_t {
  const char* name;
  int (*fnp)(int fd); /* writes the calling thread's stack to fd; 0 if it could */
  int threadsupport;  /* whether it may be used in a program with threads */
} gasnett_backtrace_type_t;

/** A program that defines this variable itself adds a mechanism, preferred to those of the library.
 * In the library it is all zero. */
extern GEX_EXPORT_ gasnett_backtrace_type_t gasnett_backtrace_user;

/** Loads what a backtrace needs, so that a later one allocates nothing. `exename` is argv[0]; it
 * may be NULL. */
GEX_EXPORT_ void gasnett_backtrace_init(const char* exename);
/** Writes the calling thread's stack to `fd`, one frame a line. Mechanisms are tried in the order
 * of GASNET_BACKTRACE_TYPE, a list separated by commas, until one succeeds; without it the
 * program's own (gasnett_backtrace_user), then EXECINFO. Returns 0, or non-zero if none did. */
GEX_EXPORT_ int gasnett_print_backtrace(int fd);
/** What fatal errors call: prints if GASNET_BACKTRACE=1. A program may put another function here.
 */
extern GEX_EXPORT_ int (*gasnett_print_backtrace_ifenabled)(int fd);

/** Prints on standard error how to attach a debugger, and sleeps until *flag is 0. `flag_name` is
 * the name by which a debugger finds the flag. */
GEX_EXPORT_ void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flag_name);
/** Freezes in that way, with a flag of the library's, if GASNET_FREEZE_ON_ERROR=1. */
GEX_EXPORT_ void gasnett_freezeForDebuggerErr(void);

/** Ends this process at once with `exit_code`: no exit handler, no flush. */
GEX_EXPORT_ void gasnett_killmyprocess(int exit_code) __attribute__((__noreturn__));

typedef void (*gasnett_sighandlerfn_t)(int);
/** Installs a handler, SIG_DFL or SIG_IGN for a signal, as signal(2), and returns the one before. A
 * signal that cannot be handled ends the job with one line. */
GEX_EXPORT_ gasnett_sighandlerfn_t gasnett_reghandler(int signal_number,
                                                      gasnett_sighandlerfn_t handler);

#if defined(__cplusplus)
}
#endif
#endif
