#pragma once
// Work whose end rings no bell, as a device's copies: while there is some, threads that wait sleep
// for tens of microseconds at a time (core/waiting.h) and poll in between.
//
// Thread rules: any.

#include <atomic>
#include <cstdint>

namespace gex {

namespace detail {
/// Relaxed wherever it is used: a sleep that misses it has a limit.
inline constinit std::atomic<std::uint32_t> unrung_work{0};
}  // namespace detail

/// Calls are counted.
inline void begin_unrung_work() noexcept {
  detail::unrung_work.fetch_add(1, std::memory_order_relaxed);
}
inline void end_unrung_work() noexcept {
  detail::unrung_work.fetch_sub(1, std::memory_order_relaxed);
}
inline bool has_unrung_work() noexcept {
  return detail::unrung_work.load(std::memory_order_relaxed) != 0;
}

}  // namespace gex
