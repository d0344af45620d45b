/* Time. Part of gasnet_tools.h.
 *
 * A tick is the processor's time stamp counter where that runs at a constant rate and the kernel
 * trusts it, else a nanosecond of the monotonic clock. Ticks of two processes must be converted
 * before they are compared, and only intervals may be converted. Everything here may be called from
 * any thread and in AM handlers. */
#ifndef GEX_TOOLS_TICKS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_TICKS_H_

#include <gex/platform.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** A moment, or an interval between two, in ticks. */
typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN UINT64_C(0)
#define GASNETT_TICK_MAX UINT64_MAX

/** Whether inline code may read the counter itself; 0 until that is determined. */
extern GEX_EXPORT_ int gex_ticks_are_tsc_;
GEX_EXPORT_ gasnett_tick_t gex_ticks_now_(void);

static inline gasnett_tick_t gex_inline_ticks_now_(void) {
#if defined(PLATFORM_ARCH_X86_64)
  if (__builtin_expect(gex_ticks_are_tsc_, 1)) return __builtin_ia32_rdtsc();
#endif
  return gex_ticks_now_();
}

/** The present moment; 10 to 30 ns. Not ordered against memory accesses. */
#define gasnett_ticks_now() gex_inline_ticks_now_()

/** An interval in nanoseconds. The first call in a process takes about 2 ms: it calibrates. */
GEX_EXPORT_ uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks);
/** An interval in microseconds, rounded down. */
GEX_EXPORT_ uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks);
/** Microseconds: the smallest interval two moments can show, measured. Takes up to 100 us. */
GEX_EXPORT_ double gasnett_tick_granularityus(void);
/** Microseconds that gasnett_ticks_now() takes, measured. Takes up to 100 us. */
GEX_EXPORT_ double gasnett_tick_overheadus(void);

/** The time of day in microseconds since 1970, as gettimeofday(2) has it. */
GEX_EXPORT_ uint64_t gasnett_gettimeofday_us(void);

/* Ticks never come from gettimeofday: GASNETT_USING_GETTIMEOFDAY is never defined. */

/** Sleeps at least so many nanoseconds; returns 0, or non-zero with errno EINTR if a signal came
 * first. Returns at once for 0. */
GEX_EXPORT_ int gasnett_nsleep(uint64_t nanoseconds);

#if defined(__cplusplus)
}
#endif
#endif
