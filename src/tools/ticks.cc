// Time for gasnet_tools.h: base/clock.h under the tools' names.

#include <gex/tools_ticks.h>

#include <sys/time.h>
#include <time.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/clock.h"

// Set while the library is loaded. Code that runs before it takes the call, which reads the same
// counter.
int gex_ticks_are_tsc_ = gex::detail::tick_is_tsc ? 1 : 0;

namespace {

/// Measured once, over readings that follow one another as closely as they can.
struct Resolution {
  double granularity_us;
  double overhead_us;
};

Resolution measure() noexcept {
  constexpr int readings = 1000;
  const gex::Tick begin = gex::ticks();
  gex::Tick last = begin;
  gex::Tick smallest = ~gex::Tick{0};
  for (int i = 0; i < readings; ++i) {
    const gex::Tick now = gex::ticks();
    if (now > last) smallest = std::min(smallest, now - last);
    last = now;
  }
  // A thousand readings in no time at all: the clock is coarser than all of them together.
  while (smallest == ~gex::Tick{0}) {
    const gex::Tick now = gex::ticks();
    if (now > last) smallest = now - last;
  }
  constexpr gex::Tick in_one = 1'000'000;  // fractions of a nanosecond must survive the conversion
  const double us_per_tick = static_cast<double>(gex::ticks_to_ns(in_one)) / in_one / 1000;
  return {static_cast<double>(smallest) * us_per_tick,
          static_cast<double>(last - begin) / readings * us_per_tick};
}

const Resolution& resolution() noexcept {
  static const Resolution value = measure();
  return value;
}

}  // namespace

gasnett_tick_t gex_ticks_now_() {
  return gex::ticks();
}

std::uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks) {
  return gex::ticks_to_ns(ticks);
}

std::uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks) {
  return gex::ticks_to_ns(ticks) / 1000;
}

double gasnett_tick_granularityus() {
  return resolution().granularity_us;
}

double gasnett_tick_overheadus() {
  return resolution().overhead_us;
}

std::uint64_t gasnett_gettimeofday_us() {
  timeval now;
  ::gettimeofday(&now, nullptr);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000u +
         static_cast<std::uint64_t>(now.tv_usec);
}

int gasnett_nsleep(std::uint64_t nanoseconds) {
  if (nanoseconds == 0) return 0;
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec length{static_cast<time_t>(nanoseconds / second),
                        static_cast<long>(nanoseconds % second)};
  // The relative form of clock_nanosleep returns the error instead of setting errno.
  const int error = ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
  errno = error;
  return error;
}
