#pragma once
// Points in time at which a guardian or a coordinator has something to do.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace gex::boot {

using Clock = std::chrono::steady_clock;

/// None: there is nothing to do.
using Deadline = std::optional<Clock::time_point>;

/// A point `seconds` from now; bounded, so that "a million years" does not overflow the clock.
inline Clock::time_point after(double seconds) {
  const auto bounded = std::chrono::duration<double>(std::min(seconds, 1e9));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(bounded);
}

/// Whether the point has been reached; it is then no more.
inline bool met(Deadline& deadline) {
  if (!deadline || Clock::now() < *deadline) return false;
  deadline.reset();
  return true;
}

/// The earlier of the two.
inline Deadline earlier(const Deadline& one, const Deadline& other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

/// The time until then as epoll_wait wants it.
inline int milliseconds_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace gex::boot
