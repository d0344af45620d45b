#pragma once
// Points in time at which a guardian or a coordinator has something to do.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace gex {

/// A steady clock that excludes time in which this process was suspended (SIGSTOP, a frozen
/// container), as far as an event loop (event_loop.h) can detect it. After a suspension, frames
/// that arrived in time are therefore read before deadlines expire, and peers that were suspended
/// too get their time.
class Clock {
 public:
  using Steady = std::chrono::steady_clock;
  using duration = Steady::duration;
  using time_point = Steady::time_point;

  static time_point now() noexcept {
    // Relaxed: one thread changes it, and it publishes no other data.
    return Steady::now() - duration(suspended_.load(std::memory_order_relaxed));
  }

  // For the one thread that waits for events and then checks deadlines.

  /// Begins a turn of the thread's loop, which was woken `late` after it should have been.
  static void begin_turn(duration late) noexcept {
    turn_began_ = Steady::now();
    if (late > normal_lateness) discount(late);
  }
  /// Ends the turn, before deadlines are checked or set: a long turn was suspended, not working.
  static void end_turn() noexcept { begin_turn(Steady::now() - turn_began_); }

 private:
  /// How late a thread may be woken, or a turn may last, on a busy machine.
  static constexpr std::chrono::milliseconds normal_lateness{500};

  static void discount(duration time) noexcept {
    suspended_.fetch_add(time.count(), std::memory_order_relaxed);
  }

  static inline std::atomic<duration::rep> suspended_{0};
  static inline time_point turn_began_ = Steady::now();
};

/// Empty: there is nothing to do.
using Deadline = std::optional<Clock::time_point>;

/// A point `seconds` from now; bounded, so that "a million years" does not overflow the clock.
inline Clock::time_point after(double seconds, Clock::time_point now = Clock::now()) {
  const auto bounded = std::chrono::duration<double>(std::min(seconds, 1e9));
  return now + std::chrono::duration_cast<Clock::duration>(bounded);
}

/// Returns true if the deadline has been reached; if so it is reset.
inline bool met(Deadline& deadline, Clock::time_point now = Clock::now()) {
  if (!deadline || now < *deadline) return false;
  deadline.reset();
  return true;
}

/// The earlier of two deadlines.
inline Deadline earlier(const Deadline& one, const Deadline& other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

/// The time until the deadline as an argument of epoll_wait.
inline int milliseconds_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace gex
