#pragma once
// Waiting on a word of shared memory without libgex.

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace gexperf {

/// True if threads that wait for one another share processors. Constant once the measurement's
/// threads and ranks are bound.
inline bool shares_processors = false;

/// Gives the processor to the thread that is waited for, if that may need it. A thread with a
/// processor of its own never does: other processes would get it for a whole time slice.
inline void wait_pause(std::uint32_t spins) {
  constexpr std::uint32_t long_wait = 1U << 10;
  if (shares_processors && spins >= long_wait) sched_yield();
}

/// Spins until the condition holds.
template <class Condition>
inline void spin_until(Condition condition) {
  for (std::uint32_t spins = 0; !condition(); ++spins) wait_pause(spins);
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
