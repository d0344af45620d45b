#include "core/waiting.h"

#include <algorithm>

#include "base/clock.h"
#include "core/thread.h"

namespace gex {

namespace detail {

constinit Waiting waiting;
constinit thread_local bool last_look __attribute__((tls_model("initial-exec"))) = false;

void ring_all_neighbors() noexcept {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  for (std::uint32_t member = 0; member < neighborhood.size(); ++member)
    if (member != neighborhood.local_index()) neighborhood.waiters_bell(member).ring();
}

}  // namespace detail

void set_up_waiting() noexcept {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  detail::Waiting& waiting = detail::waiting;
  if (neighborhood.size() > 1) waiting.sleepers = &neighborhood.sleepers();
  if (self.threaded) waiting.own = &neighborhood.waiters_bell(neighborhood.local_index());
  // Nothing wakes a thread for a message of the network.
  waiting.can_sleep = self.conduit == nullptr || neighborhood.size() == self.job->size();
}

std::uint64_t sleep_until_rung(std::uint64_t limit_ns, bool (*look)(void* context),
                               void* context) noexcept {
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  shm::SleeperCount& sleepers = neighborhood.sleepers();
  std::atomic<std::uint32_t>& shown = this_thread().status.sleeps_in_library;
  bool found = false;
  Tick begin = 0;
  sleepers.begin();
  neighborhood.waiters_bell(neighborhood.local_index())
      .sleep(
          limit_ns,
          [&]() noexcept {
            detail::last_look = true;
            found = look(context);
            detail::last_look = false;
            begin = ticks();
            // Relaxed: shown to the guardian.
            shown.store(found ? 0 : 1, std::memory_order_relaxed);
            return found;
          },
          self.threaded ? shm::Sleepers::many : shm::Sleepers::one);
  shown.store(0, std::memory_order_relaxed);
  sleepers.end();
  return found ? 0 : std::max<std::uint64_t>(ticks_to_ns(ticks() - begin), 1);
}

}  // namespace gex
