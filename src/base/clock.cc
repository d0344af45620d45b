#include "base/clock.h"

#include <cstdio>
#include <cstring>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/spin.h"

namespace gex {
namespace {

#if defined(__x86_64__)
/// Name of the kernel's clock source, "" if there is no /sys in this container.
struct ClockSource {
  char name[64] = {};
};
ClockSource kernel_clock_source() noexcept {
  ClockSource source;
  std::FILE* file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return source;
  if (std::fgets(source.name, sizeof source.name, file) == nullptr) source = {};
  std::fclose(file);
  source.name[std::strcspn(source.name, "\n")] = '\0';
  return source;
}

/// The kernel watches the counters of all cores and stops using them when they disagree: on a host
/// with another clock source than these its counters are unreliable. Where the source cannot be
/// read, the processor's own statement must do.
bool kernel_trusts_tsc(const ClockSource& source) noexcept {
  for (const char* trusted : {"", "tsc", "kvm-clock", "hyperv_clocksource_tsc_page"}) {
    if (std::strcmp(source.name, trusted) == 0) return true;
  }
  return false;
}

bool tsc_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned power_management = 0x80000007u, invariant_tsc = 1u << 8;
  return __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant_tsc) != 0;
}
#endif

bool tsc_usable() noexcept {
#if defined(__x86_64__)
  return tsc_is_invariant() && kernel_trusts_tsc(kernel_clock_source());
#else
  return false;
#endif
}

/// A moment seen on both clocks.
struct Moment {
  Tick tick;
  std::uint64_t ns;
};

/// Returns that of several tries whose two tick readings lie closest around the clock's: what
/// happened between them (an interrupt, the loss of the core) makes the pair wrong.
Moment read_both() noexcept {
  Moment best{};
  Tick narrowest = ~Tick{0};
  for (int i = 0; i < 8; ++i) {
    const Tick before = ticks();
    const std::uint64_t ns = now_ns();
    const Tick width = ticks() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before + width / 2, ns};
    }
  }
  return best;
}

struct Scale {
  double ns_per_tick;
  double ticks_per_ns;
};

Scale calibrate() noexcept {
  if (!detail::tick_is_tsc) return {1.0, 1.0};
  constexpr std::uint64_t interval_ns = 2'000'000;
  const Moment begin = read_both();
  while (now_ns() - begin.ns < interval_ns) spin_pause();
  const Moment end = read_both();
  const double ratio =
      static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.tick - begin.tick);
  return {ratio, 1.0 / ratio};
}

const Scale& scale() noexcept {
  static const Scale value = calibrate();
  return value;
}

}  // namespace

const bool detail::tick_is_tsc = tsc_usable();

std::uint64_t now_ns() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t ticks_to_ns(Tick interval) noexcept {
  return nearest_tick(static_cast<double>(interval) * scale().ns_per_tick);
}

Tick ns_to_ticks(std::uint64_t nanoseconds) noexcept {
  return nearest_tick(static_cast<double>(nanoseconds) * scale().ticks_per_ns);
}

const char* tick_source() noexcept {
  return detail::tick_is_tsc ? "tsc" : "clock_gettime";
}

std::string tick_reason() {
#if defined(__x86_64__)
  if (!tsc_is_invariant()) return "the processor's time stamp counter is not invariant";
  const ClockSource source = kernel_clock_source();
  if (source.name[0] == '\0') return "an invariant counter; the kernel's clock source is unknown";
  if (!detail::tick_is_tsc)
    return std::string("the kernel's clock source is ") + source.name +
           ": the kernel does not use the processor's time stamp counter";
  return std::string("an invariant counter, and the kernel's clock source is ") + source.name;
#else
  return "no supported time stamp counter on this processor";
#endif
}

}  // namespace gex
