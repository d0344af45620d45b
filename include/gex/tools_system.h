/* The machine, the process and the library. Part of gasnet_tools.h.
 *
 * May be called from any thread unless noted otherwise. Not in AM handlers, except for the
 * constants and the version. */
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

/** Bytes of a page, a preprocessor integer; where the kernel can choose, the largest choice. */
#define GASNETT_PAGESIZE GEX_PAGESIZE_
/** log2 of GASNETT_PAGESIZE. */
#define GASNETT_PAGESHIFT GEX_PAGESHIFT_
/** Bytes that processors share memory in, at least. */
#if defined(PLATFORM_ARCH_POWERPC)
#define GASNETT_CACHE_LINE_BYTES 128
#else
#define GASNETT_CACHE_LINE_BYTES 64
#endif

/** The system as autoconf would name it, for display. */
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

/** Version of the release whose interface this is. */
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH
/** That of the library in use: "2025.8.0". */
GEX_EXPORT_ const char* gasnett_release_version_str(void);
/** That of the library in use as a number that only grows: 2025080000, whose last four digits are
 * the patch and the two before them the minor number. */
GEX_EXPORT_ uint64_t gasnett_release_version(void);

/** How tools and client are configured, in the reference's form. */
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

/** What makes this build of the library slow (usage checks, a sanitizer), as lines for the user;
 * empty if nothing does. */
GEX_EXPORT_ const char* gasnett_performance_warning_str(void);

/** The host's name. */
GEX_EXPORT_ const char* gasnett_gethostname(void);
/** Processors online in this host, hardware threads counted each. */
GEX_EXPORT_ int gasnett_cpu_count(void);
/** Bytes of memory in this host. If that cannot be determined: ends the job if `failure_is_fatal`,
 * else 0. */
GEX_EXPORT_ uint64_t gasnett_getPhysMemSz(int failure_is_fatal);
/** Whether the least significant byte of a number comes first. */
GEX_EXPORT_ int gasnett_isLittleEndian(void);
/** Path of the running program, as the kernel has it. */
GEX_EXPORT_ const char* gasnett_exe_name(void);

/** 1: gasnett_set_affinity does something. */
#define GASNETT_SET_AFFINITY_SUPPORT 1
/** Binds the calling thread to processor `rank` modulo gasnett_cpu_count(). 0, or non-zero if that
 * processor is not allowed. Deprecated: hwloc has a better model of the machine. */
GEX_EXPORT_ int gasnett_set_affinity(int rank);

/** Raises a limit of this process, RLIMIT_..., as far as it goes. `name` is its name, for messages
 * and for the variable GASNET_MAXIMIZE_<name>, which set to 0 leaves the limit alone. Returns
 * non-zero on success, also when left alone. */
GEX_EXPORT_ int gasnett_maximize_rlimit(int resource, const char* name);
/** Raises in that way processor time and every limit of memory; non-zero if all succeeded. */
GEX_EXPORT_ int gasnett_maximize_rlimits(void);

/** Writes out what standard output and error still hold. Errors are ignored. */
GEX_EXPORT_ void gasnett_flush_streams(void);
/** Closes standard input, output and error; what is written later is lost. */
GEX_EXPORT_ void gasnett_close_streams(void);

/** Maps `size` bytes of fresh zeroed memory. Returns MAP_FAILED, (void *)-1, with errno if it
 * cannot; munmap(2) gives it back. */
GEX_EXPORT_ void* gasnett_mmap(uintptr_t size);

/** Tests the tools on this machine with `threads` threads (at least 1), `iterations` operations
 * each: atomics, fences, locks, conditions, thread keys, timers. `sections` picks some: an OR of
 * letters, 'a' atomics, 'l' locks, 'c' conditions, 'r' reader/writer locks, 'k' thread keys, 't'
 * timers; NULL or "" is all. Further arguments are ignored. Each failure is one line on standard
 * error; returns their number. */
GEX_EXPORT_ int gasnett_run_diagnostics(int iterations, int threads, const char* sections, ...);
/** The AM handlers the diagnostics need: none. *count becomes 0, and *(gex_AM_Entry_t **)table an
 * address that may be registered from with that count. */
GEX_EXPORT_ void gasnett_diagnostic_gethandlers(void* table, int* count);

#if defined(__cplusplus)
}
#endif
#endif
