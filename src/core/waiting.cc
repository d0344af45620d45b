#include "core/waiting.h"

#include <algorithm>

#include "base/clock.h"
#include "base/os_time_slice.h"
#include "base/patience.h"
#include "core/network_watch.h"
#include "core/thread.h"
#include "core/unrung_work.h"

namespace gex {

namespace {

void set_no_marks() noexcept {
}

constinit shm::SleeperCount no_sleepers{};
/// At start-up, by both clocks.
std::uint64_t start_ns = 0;
Tick start_tick = 0;

/// Measures the ticks of waits by the time since start-up, once that is long enough: `ticks_to_ns`
/// would wait for that.
void measure_ticks() noexcept {
  constexpr std::uint64_t enough_ns = 1'000'000;
  static std::atomic<bool> is_measured{false};
  if (is_measured.load(std::memory_order_relaxed)) return;
  const std::uint64_t passed = now_ns() - start_ns;
  if (passed < enough_ns) return;
  PatienceActions::ns_per_tick.store(
      static_cast<double>(passed) / static_cast<double>(ticks() - start_tick),
      std::memory_order_relaxed);
  is_measured.store(true, std::memory_order_relaxed);
}

void (*the_set_marks)() noexcept = set_no_marks;

}  // namespace

namespace detail {

constinit Waiting waiting{&no_sleepers};
constinit thread_local bool last_look __attribute__((tls_model("initial-exec"))) = false;

void ring_all_neighbors() noexcept {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  for (std::uint32_t member = 0; member < neighborhood.size(); ++member)
    if (member != neighborhood.local_index()) neighborhood.waiters_bell(member).ring();
}

bool may_nap() noexcept {
  const WaitHistory& history = PatienceActions::history();
  if (history.mode() == WaitMode::block) return true;
  return history.lost_at() != 0 && contended<PatienceActions>(PatienceActions::now());
}

}  // namespace detail

void set_up_waiting() noexcept {
  start_ns = now_ns();
  start_tick = ticks();
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  detail::Waiting& waiting = detail::waiting;
  if (neighborhood.size() > 1) waiting.sleepers = &neighborhood.sleepers();
  // For ever: other threads' fences do not include this process.
  if (!os::has_shared_fence()) waiting.sleepers->begin();
  if (self.threaded) waiting.own = &neighborhood.own_waiters_bell();
  PatienceActions::history().set_ranks_per_core(ranks_per_core());
  set_up_network_watch();
  const NetworkWake wake = network_wake();
  waiting.naps = wake == NetworkWake::none;
  // Each poll of such networks is a system call.
  constexpr std::uint32_t poll_cost = 16;
  if (wake == NetworkWake::by_descriptors) PatienceActions::history().set_poll_cost(poll_cost);
}

void register_marks(void (*set_marks)() noexcept) noexcept {
  the_set_marks = set_marks;
}

std::uint64_t sleep_until_rung(std::uint64_t limit_ns, bool (*look)(void* context),
                               void* context) noexcept {
  constexpr std::uint64_t nap_ns = 50'000;
  constexpr std::uint64_t inexact_ns = 1'000'000;
  if (!shm::Doorbell::is_exact()) limit_ns = std::min(limit_ns, inexact_ns);
  const bool naps = detail::waiting.naps || has_unrung_work();
  if (naps) limit_ns = std::min(limit_ns, nap_ns);
  const Process& self = process();
  const shm::Neighborhood& neighborhood = self.neighborhood;
  shm::SleeperCount& sleepers = neighborhood.sleepers();
  shm::Doorbell& bell = neighborhood.own_waiters_bell();
  std::atomic<std::uint32_t>& shown = this_thread().status.sleeps_in_library;
  bool found = false;
  Tick begin = 0;
  NetworkWatch watch;
  // A network that is at work shows it before the fence, which disturbs other ranks.
  if (!watch.may_sleep(limit_ns)) return 0;
  os::shorten_time_slice();
  const auto look_last = [&]() noexcept {
    detail::last_look = true;
    found = look(context) || !watch.may_sleep(limit_ns);
    detail::last_look = false;
    begin = ticks();
    // Relaxed: shown to the guardian.
    shown.store(found ? 0 : 1, std::memory_order_relaxed);
    return found;
  };
  // A shared fence for each nap would cost the sleeper as much as the nap itself, and interrupt
  // ranks that compute.
  const shm::SleepFence fence = naps ? shm::SleepFence::own : shm::SleepFence::shared;
  sleepers.begin();
  if (watch.is_held())
    bell.sleep_elsewhere(
        look_last, [&]() noexcept { watch.sleep(limit_ns); }, the_set_marks, fence);
  else
    bell.sleep(limit_ns, look_last, self.threaded ? shm::Sleepers::many : shm::Sleepers::one,
               the_set_marks, fence);
  shown.store(0, std::memory_order_relaxed);
  sleepers.end();
  measure_ticks();
  if (found) return 0;
  const std::uint64_t slept_ns =
      std::max<std::uint64_t>(PatienceActions::to_ns(ticks() - begin), 1);
  PatienceActions::history().slept(limit_ns, slept_ns);
  return slept_ns;
}

}  // namespace gex
