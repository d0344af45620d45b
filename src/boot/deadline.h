#pragma once
// Points in time at which a guardian or a coordinator has something to do.

#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace gex::boot {

/// The time that deadlines go by. It stands still while this process does (SIGSTOP, a frozen
/// container), as far as `wait_for_events` notices: afterwards, what others have said in time is
/// heard before anybody is judged to be late, and who stood still as well has the time to speak.
class Clock {
 public:
  using Steady = std::chrono::steady_clock;
  using duration = Steady::duration;
  using time_point = Steady::time_point;

  static time_point now() noexcept {
    // Relaxed: one thread changes it, and no other's data hangs on it.
    return Steady::now() - duration(stood_still_.load(std::memory_order_relaxed));
  }

  // Of the one thread that waits for events and then looks at the deadlines.

  /// A turn of its loop begins: it has been woken, later than it should by so much.
  static void begin_turn(duration late) noexcept {
    turn_began_ = Steady::now();
    if (late > usual) leave_out(late);
  }
  /// Deadlines are looked at or set after what may have taken long: that was no work of ours.
  static void end_turn() noexcept { begin_turn(Steady::now() - turn_began_); }

 private:
  /// Of a busy machine.
  static constexpr std::chrono::milliseconds usual{500};

  static void leave_out(duration time) noexcept {
    stood_still_.fetch_add(time.count(), std::memory_order_relaxed);
  }

  static inline std::atomic<duration::rep> stood_still_{0};
  static inline time_point turn_began_ = Steady::now();
};

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

/// Waits for events of `epoll`, not beyond the deadline; how many there are. Who then looks at
/// deadlines calls Clock::end_turn before.
inline int wait_for_events(int epoll, std::span<epoll_event> events, const Deadline& deadline) {
  const auto begun = Clock::Steady::now();
  const int wait = milliseconds_until(deadline);
  const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), wait);
  const auto late = Clock::Steady::now() - begun - std::chrono::milliseconds(wait);
  Clock::begin_turn(wait < 0 ? Clock::duration::zero() : late);
  return count;
}

}  // namespace gex::boot
