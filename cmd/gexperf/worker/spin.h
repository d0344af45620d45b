#pragma once
// Waiting on a word of shared memory without libgex.

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace gexperf {

/// Spins until the condition holds. Yields the processor only after a wait that is long for any
/// word written by a running thread: what is waited for may run on the same processor then.
template <class Condition>
inline void spin_until(Condition condition) {
  constexpr std::uint32_t long_wait = 1U << 14;
  for (std::uint32_t spins = 0; !condition(); ++spins)
    if (spins >= long_wait) sched_yield();
}

/// Calls `progress`, which returns how much of it has been done, until all of `work` is done.
template <class Progress>
inline void spin_through(std::uint64_t work, Progress progress) {
  while (work != 0) {
    std::uint64_t done = 0;
    spin_until([&] { return (done = progress()) != 0; });
    work -= done;
  }
}

/// Spins until a word that only grows has reached a value.
inline void spin_until_reached(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  spin_until(
      [&] { return static_cast<std::int32_t>(word.load(std::memory_order_acquire) - value) >= 0; });
}

}  // namespace gexperf
