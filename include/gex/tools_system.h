/** @file
 * The machine, the process and the library. Part of gasnet_tools.h.
 */
#ifndef GEX_TOOLS_SYSTEM_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_SYSTEM_H_

#include <gex/platform.h>
#include <gex/tools_mode.h>
#include <gex/version.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** @name Constants of the machine
 * Bytes of a page and its logarithm, bytes of a cache line, and the system's name.
 *
 * The page is a preprocessor integer; where the kernel can choose, the largest choice. A cache line
 * is what processors share memory in, at least. The tuple is the system as autoconf would name it.
 * @par Specification
 * GASNet tools, "System properties".
 */
/**@{*/
#define GASNETT_PAGESIZE GEX_PAGESIZE_
#define GASNETT_PAGESHIFT GEX_PAGESHIFT_
#if defined(PLATFORM_ARCH_POWERPC)
#define GASNETT_CACHE_LINE_BYTES 128
#else
#define GASNETT_CACHE_LINE_BYTES 64
#endif

#if defined(PLATFORM_ARCH_X86_64)
#define GEX_SYSTEM_CPU_ "x86_64"
#elif defined(PLATFORM_ARCH_AARCH64)
#define GEX_SYSTEM_CPU_ "aarch64"
#elif defined(PLATFORM_ARCH_POWERPC) && defined(PLATFORM_ARCH_LITTLE_ENDIAN)
#define GEX_SYSTEM_CPU_ "powerpc64le"
#elif defined(PLATFORM_ARCH_RISCV)
#define GEX_SYSTEM_CPU_ "riscv64"
#else
#define GEX_SYSTEM_CPU_ "unknown"
#endif
#define GASNETT_SYSTEM_TUPLE GEX_SYSTEM_CPU_ "-unknown-linux-gnu"

/**@}*/

/** @name Version of the tools
 * The version of the release whose interface this is, as it was compiled, and that of the library
 * in use.
 *
 * @return Text, "2025.8.0"; or a number that only grows, 2025080000, whose last four digits are the
 *         patch and the two before them the minor number.
 * @par Context
 * Any thread, and in handlers.
 * @see GASNET_RELEASE_VERSION_MAJOR, GEX_LIBRARY_VERSION
 */
/**@{*/
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH
GEX_EXPORT_ const char* gasnett_release_version_str(void);
GEX_EXPORT_ uint64_t gasnett_release_version(void);

/**@}*/

/** How tools and client are configured, as text in the reference's form.
 * @see GASNET_CONFIG_STRING
 */
#define GASNETT_CONFIG_STRING \
  "RELEASE=" _STRINGIFY(GASNETT_RELEASE_VERSION_MAJOR) "." _STRINGIFY(                       \
      GASNETT_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNETT_RELEASE_VERSION_PATCH) ",SPEC="  \
  _STRINGIFY(GASNETT_SPEC_VERSION_MAJOR) "." _STRINGIFY(GASNETT_SPEC_VERSION_MINOR) ",PTR="  \
  GEX_POINTER_TEXT_ ",CACHE_LINE_BYTES=" _STRINGIFY(GASNETT_CACHE_LINE_BYTES)                \
  "," GEX_TOOLS_DEBUG_TEXT_ "," GEX_TOOLS_THREAD_TEXT_                                       \
  ",timers_native,membars_native,atomics_native,atomic32_native,atomic64_native"
#if defined(PLATFORM_ARCH_64)
#define GEX_POINTER_TEXT_ "64bit"
#else
#define GEX_POINTER_TEXT_ "32bit"
#endif
#if defined(GASNET_DEBUG)
#define GEX_TOOLS_DEBUG_TEXT_ "debug"
#else
#define GEX_TOOLS_DEBUG_TEXT_ "nodebug"
#endif
#if GEX_TOOLS_THREADS_
#define GEX_TOOLS_THREAD_TEXT_ "par"
#define GEX_TOOLS_THREAD_MODEL_ "PAR"
#else
#define GEX_TOOLS_THREAD_TEXT_ "seq"
#define GEX_TOOLS_THREAD_MODEL_ "SEQ"
#endif

#ifndef GEX_LIBRARY_
GEX_IDENT_("ToolsConfig", "(libgasnet_tools.a) " GASNETT_CONFIG_STRING)
GEX_IDENT_("ToolsThreadModel", GEX_TOOLS_THREAD_MODEL_)
#endif

/** Returns what makes this build of the library slow: usage checks, a sanitizer.
 *
 * @return Lines for the user; empty if nothing does.
 * @par Context
 * Any thread, and in handlers.
 */
GEX_EXPORT_ const char* gasnett_performance_warning_str(void);

/** @name The machine and the program
 * Return facts about this host and the running program.
 *
 * @param failure_is_fatal  Non-zero: end the job if the size cannot be determined; else it is 0.
 * @return gethostname: the host's name. cpu_count: processors online, hardware threads counted
 *         each. getPhysMemSz: bytes of memory. isLittleEndian: non-zero if the least significant
 *         byte of a number comes first. exe_name: the path of the running program, as the kernel
 *         has it. Text is the library's.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * printf("%s: %d processors\n", gasnett_gethostname(), gasnett_cpu_count());
 * @endcode
 * @par Specification
 * GASNet tools, "System properties".
 */
/**@{*/
GEX_EXPORT_ const char* gasnett_gethostname(void);
GEX_EXPORT_ int gasnett_cpu_count(void);
GEX_EXPORT_ uint64_t gasnett_getPhysMemSz(int failure_is_fatal);
GEX_EXPORT_ int gasnett_isLittleEndian(void);
GEX_EXPORT_ const char* gasnett_exe_name(void);

/**@}*/

/** @name Affinity
 * Bind the calling thread to one processor. Deprecated: hwloc has a better model of the machine.
 *
 * @param rank  The processor, modulo gasnett_cpu_count().
 * @return 0, or non-zero if that processor is not allowed.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnett_set_affinity(number);
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 */
/**@{*/
/** 1: gasnett_set_affinity does something. */
#define GASNETT_SET_AFFINITY_SUPPORT 1
GEX_EXPORT_ int gasnett_set_affinity(int rank);

/**@}*/

/** @name Limits of the process
 * Raise a limit of this process as far as it goes: one, or processor time and every limit of
 * memory.
 *
 * @param resource  RLIMIT_...
 * @param name      Its name, for messages and for the variable GASNET_MAXIMIZE_<name>, which set to
 *                  0 leaves the limit alone.
 * @return Non-zero on success, also when left alone.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnett_maximize_rlimits();
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 */
/**@{*/
GEX_EXPORT_ int gasnett_maximize_rlimit(int resource, const char* name);
GEX_EXPORT_ int gasnett_maximize_rlimits(void);

/**@}*/

/** @name Standard streams
 * Write out what standard output and error still hold, or close all three: what is written later is
 * lost. Errors are ignored.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnett_flush_streams();
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 */
/**@{*/
GEX_EXPORT_ void gasnett_flush_streams(void);
GEX_EXPORT_ void gasnett_close_streams(void);

/**@}*/

/** Maps fresh zeroed memory, which munmap(2) gives back.
 *
 * @param size  Bytes.
 * @return The memory, or MAP_FAILED, (void *)-1, with errno.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * void* memory = gasnett_mmap(1 << 20);
 * if (memory == (void*)-1) perror("no memory");
 * @endcode
 */
GEX_EXPORT_ void* gasnett_mmap(uintptr_t size);

/** @name Diagnostics
 * Test the tools on this machine: atomics, fences, locks, conditions, thread keys, timers.
 *
 * @param iterations  Operations of each kind.
 * @param threads     Threads that make them, at least 1.
 * @param sections    Letters that pick some: 'a' atomics, 'l' locks, 'c' conditions, 'r'
 *                    reader/writer locks, 'k' thread keys, 't' timers; NULL or "" is all. Further
 *                    arguments are ignored.
 * @param table       Receives the AM handlers that the diagnostics need: a gex_AM_Entry_t * that
 *                    may be registered from.
 * @param count       Receives how many: 0.
 * @return run_diagnostics: the number of failures, each of which is one line on standard error.
 * @par Context
 * One thread; not in handlers.
 */
/**@{*/
GEX_EXPORT_ int gasnett_run_diagnostics(int iterations, int threads, const char* sections, ...);
GEX_EXPORT_ void gasnett_diagnostic_gethandlers(void* table, int* count);
/**@}*/

#if defined(__cplusplus)
}
#endif
#endif
