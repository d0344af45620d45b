/** @file
 * Time. Part of gasnet_tools.h.
 */
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

/** @name Ticks
 * Measure time with the processor's counter.
 *
 * A tick is the processor's time stamp counter where that runs at a constant rate and the kernel
 * trusts it, else a nanosecond of the monotonic clock; never gettimeofday, and so
 * GASNETT_USING_GETTIMEOFDAY is never defined. Ticks of two processes must be converted before they
 * are compared, and only intervals may be converted.
 *
 * @param ticks  An interval: the difference of two moments.
 * @return ticks_now: the present moment; it takes 10 to 30 ns, and is not ordered against memory
 *         accesses. ticks_to_ns: nanoseconds; the first call in a process takes about 2 ms, since
 *         it calibrates. ticks_to_us: microseconds, rounded down. tick_granularityus: the smallest
 *         interval that two moments can show, in microseconds, measured. tick_overheadus:
 *         microseconds that gasnett_ticks_now takes, measured. Measuring takes up to 100 us.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * gasnett_tick_t begun = gasnett_ticks_now();
 * compute();
 * uint64_t ns = gasnett_ticks_to_ns(gasnett_ticks_now() - begun);
 * @endcode
 * @par Further names
 * GASNETT_USING_GETTIMEOFDAY
 * @par Specification
 * GASNet tools, "Timers".
 */
/**@{*/
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

#define gasnett_ticks_now() gex_inline_ticks_now_()

GEX_EXPORT_ uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks);
GEX_EXPORT_ uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks);
GEX_EXPORT_ double gasnett_tick_granularityus(void);
GEX_EXPORT_ double gasnett_tick_overheadus(void);

/**@}*/

/** Returns the time of day, as gettimeofday(2) has it.
 * @return Microseconds since 1970.
 * @par Context
 * Any thread, and in handlers.
 * @see gasnett_ticks_now
 */
GEX_EXPORT_ uint64_t gasnett_gettimeofday_us(void);

/** Sleeps.
 *
 * @param nanoseconds  At least so many. For 0 the call returns at once.
 * @return 0, or non-zero with errno EINTR if a signal came first.
 * @par Context
 * Any thread; it does not poll.
 * @par Example
 * @code
 * gasnett_nsleep(1000000);  // a millisecond
 * @endcode
 */
GEX_EXPORT_ int gasnett_nsleep(uint64_t nanoseconds);

#if defined(__cplusplus)
}
#endif
#endif
