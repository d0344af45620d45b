#pragma once
// Time, at two prices.
//
// `now_ns` reads the host's monotonic clock: nanoseconds, equal in every process of the host, some
// 40 ns a call. `ticks` is for measuring short intervals inside one process: the processor's
// time stamp counter where it is constant and the kernel trusts it, about half the price; else
// `now_ns`. Ticks of different processes must not be compared after conversion: each process
// calibrates for itself, to about 20 parts in a million.
//
//   const Tick begin = ticks();
//   work();
//   const std::uint64_t ns = ticks_to_ns(ticks() - begin);
//
// The first conversion in a process may take 2 ms: it waits until the calibration interval is long
// enough. No call here allocates or blocks otherwise; any thread may call any.

#include <cstdint>
#include <string>

namespace gex {

using Tick = std::uint64_t;

/// The nearest whole number of a `count` that is not negative. llround would need the mathematics
/// library, which some configure scripts link without.
constexpr Tick nearest_tick(double count) noexcept {
  const auto below = static_cast<Tick>(count);
  return count - static_cast<double>(below) < 0.5 ? below : below + 1;
}

/// CLOCK_MONOTONIC in nanoseconds.
std::uint64_t now_ns() noexcept;

/// The present tick. Not ordered against memory operations around it: within the span of a few
/// instructions the processor may read it early or late.
Tick ticks() noexcept;

/// The present tick, not read before the loads that come before it have their values: a tick that
/// follows what another thread has made visible is not before that thread's own tick. Some
/// nanoseconds more.
Tick ticks_after_loads() noexcept;

std::uint64_t ticks_to_ns(Tick interval) noexcept;
Tick ns_to_ticks(std::uint64_t nanoseconds) noexcept;

/// Names the source of `ticks`, for gexinfo: "tsc" or "clock_gettime".
const char* tick_source() noexcept;

/// Why `ticks` reads that, for gexinfo. Allocates; reads /sys.
std::string tick_reason();

namespace detail {
/// Decided before main: constant from then on, so that `ticks` pays one predicted branch.
extern const bool tick_is_tsc;
}  // namespace detail

// By the compiler's builtins: the header of x86's intrinsics has all of AVX-512, which takes longer
// to compile than most of what includes this file.
inline Tick ticks() noexcept {
#if defined(__x86_64__)
  if (detail::tick_is_tsc) [[likely]]
    return __builtin_ia32_rdtsc();
#endif
  return now_ns();
}

inline Tick ticks_after_loads() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return ticks();
}

}  // namespace gex
