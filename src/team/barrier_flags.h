#pragma once
// Questions about the flags of a barrier: how far members of a team have come, where they ran, and
// whether a barrier is done.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "shm/team_slots.h"

namespace gex::team {

using BarrierFlags = std::span<const shm::BarrierFlag* const>;

/// a has come as far as b; counts wrap around.
inline bool reached(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) >= 0;
}

/// The least of some flags, or `wanted` if all have reached it.
inline std::uint32_t least_of(BarrierFlags flags, std::uint32_t wanted) noexcept {
  std::uint32_t least = wanted;
  for (const shm::BarrierFlag* flag : flags) {
    // Acquire: pairs with the release of the member that raised it.
    const std::uint32_t value = flag->number.load(std::memory_order_acquire);
    if (!reached(value, least)) least = value;
  }
  return least;
}

/// Returns true if a member that has not reached `wanted` ran on that core when it arrived at the
/// barrier before. Relaxed: a hint.
inline bool any_missing_on(std::uint32_t core, BarrierFlags flags, std::uint32_t wanted) noexcept {
  return std::any_of(flags.begin(), flags.end(), [&](const shm::BarrierFlag* flag) {
    return !reached(flag->number.load(std::memory_order_relaxed), wanted) &&
           flag->core.load(std::memory_order_relaxed) == core;
  });
}

/// A barrier of many members: the first of them looks at all flags and raises one of its own, at
/// which the others look. That is a line for each of them on the way in and one on the way out; if
/// all looked at all flags, it would be a line for each pair of members.
///
/// None waits for the first one's attention: a member that has looked for a while, or comes back
/// after a while, looks at all flags itself. One for each member and barrier; any thread.
class Gathering {
 public:
  /// The member has arrived at a barrier.
  void arrive() noexcept { looked_.store(ticks(), std::memory_order_relaxed); }

  /// Returns true if all have arrived at `number`; acquire on success. `raised`: the first one's
  /// flag; `is_first`: the member is that one.
  bool done(BarrierFlags flags, std::atomic<std::uint32_t>& raised, bool is_first,
            std::uint32_t number) noexcept {
    // Acquire: what the first one has seen happens before this.
    if (reached(raised.load(std::memory_order_acquire), number)) return true;
    if (!is_first) {
      // Relaxed: of several threads any may look.
      const Tick now = ticks();
      if (now - looked_.load(std::memory_order_relaxed) < patience) return false;
      looked_.store(now, std::memory_order_relaxed);
    }
    if (least_of(flags, number) != number) return false;
    // Release: hands on what the members released. Another thread may have raised it further; the
    // members for which this takes it back look at all flags.
    if (is_first) raised.store(number, std::memory_order_release);
    return true;
  }

 private:
  /// A microsecond or two, whatever the clock: longer than a barrier takes.
  static constexpr Tick patience = 4096;

  std::atomic<Tick> looked_{0};
};

}  // namespace gex::team
