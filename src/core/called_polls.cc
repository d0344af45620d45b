#include "core/called_polls.h"

#include <algorithm>
#include <atomic>

#include "base/patience.h"
#include "core/progress.h"

namespace gex {

namespace {

/// A look costs little against this time.
constexpr std::uint64_t between_looks_ns = 5'000'000;

constinit thread_local detail::UsageLook latest{};
/// Polls are calls because of what is found here. Relaxed: nothing is ordered by it.
constinit std::atomic<bool> wants_calls{false};

}  // namespace

namespace detail {

constinit thread_local std::uint32_t busy_polls __attribute__((tls_model("initial-exec"))) = 0;

bool has_lost_core(const UsageLook& before, const UsageLook& now) noexcept {
  if (before.at == 0 || now.usage.sleeps != before.usage.sleeps ||
      now.usage.preemptions == before.usage.preemptions)
    return false;
  const std::uint64_t passed_ns = ticks_to_ns(now.at - before.at);
  const std::uint64_t ran_ns = now.usage.ran_ns - before.usage.ran_ns;
  return passed_ns > ran_ns + std::max(WaitHistory::long_away_ns, passed_ns / 8);
}

void look_for_lost_core() noexcept {
  const Tick at = PatienceActions::now();
  if (latest.at != 0 && PatienceActions::to_ns(at - latest.at) < between_looks_ns) return;
  const UsageLook now{at, os::thread_usage()};
  if (has_lost_core(latest, now)) PatienceActions::history().lost_core(at);
  latest = now;
  const bool is_contended = contended<PatienceActions>(at);
  if (wants_calls.exchange(is_contended, std::memory_order_relaxed) == is_contended) return;
  if (is_contended)
    want_deliveries();
  else
    unwant_deliveries();
}

}  // namespace detail

}  // namespace gex
