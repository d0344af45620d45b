#include "team/named_barrier.h"

#include <memory>

#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "observe/trace.h"
#include "team/barrier.h"

namespace gex::team {

namespace {

struct State {
  SpinLock lock;
  std::unique_ptr<TeamBarrier> barrier;  ///< made for the first call
  std::uint32_t number = 0;              ///< barriers notified
  bool under_way = false;
  BarrierValue result;
};
Immortal<State> the_state;

/// Tries to complete; on success `mismatch` is the outcome for this caller.
bool try_finish(int id, int flags, bool& mismatch) noexcept {
  State& state = the_state.get();
  const OptionalGuard guard(state.lock, true);
  if (!state.barrier->done(state.number)) return false;
  state.result = state.barrier->value();
  mismatch = mismatches(state.result, {id, flags});
  state.under_way = false;
  return true;
}

}  // namespace

BarrierValue value_of(const BarrierArguments& arguments) noexcept {
  if ((arguments.flags & GASNET_BARRIERFLAG_MISMATCH) != 0) return {Knowledge::mismatch, 0};
  if ((arguments.flags & (GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_UNNAMED)) != 0)
    return {Knowledge::anonymous, 0};
  return {Knowledge::named, arguments.id};
}

bool mismatches(const BarrierValue& value, const BarrierArguments& waited) noexcept {
  return combine(value, value_of(waited)).knowledge == Knowledge::mismatch;
}

void barrier_notify(int id, int flags) noexcept {
  State& state = the_state.get();
  const OptionalGuard guard(state.lock, true);
  if (state.under_way)
    fatal(
        "gasnet_barrier_notify: called twice without a gasnet_barrier_wait or a successful "
        "gasnet_barrier_try between");
  Team& team = Team::from(gasnet1_client()->team);
  if (state.barrier == nullptr)
    state.barrier =
        std::make_unique<TeamBarrier>(team, barrier_of(team).slots(), TeamBarrier::Kind::named);
  state.under_way = true;
  ++state.number;
  team.status.named_barriers.store(state.number, std::memory_order_relaxed);
  // It belongs to no team, but to the job.
  trace::collective(trace::Collective::barrier, 0, state.number, gex_proc_.jobsize);
  state.barrier->start(value_of({id, flags}));
}

int barrier_finish(int id, int flags, bool wait) {
  if (!the_state.get().under_way)
    fatal("gasnet_barrier_%s: no gasnet_barrier_notify before it", wait ? "wait" : "try");
  bool mismatch = false;
  if (wait) {
    wait_until_or_cancelled(
        []() noexcept {
          return Op::with_team(OpKind::named_barrier, number_of(Call::barrier_wait),
                               Team::from(gasnet1_client()->team).id(),
                               named_barrier_state().notified);
        },
        [&]() noexcept { return try_finish(id, flags, mismatch); },
        []() noexcept {
          State& state = the_state.get();
          return state.barrier->needs_core(state.number);
        },
        WaitCause::barrier);
  } else {
    poll();
    if (!try_finish(id, flags, mismatch)) return GASNET_ERR_NOT_READY;
  }
  return mismatch ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

int barrier_result(int* id) noexcept {
  const State& state = the_state.get();
  *id = state.result.id;
  return state.result.knowledge == Knowledge::anonymous ? 1 : 0;
}

NamedBarrierState named_barrier_state() noexcept {
  State& state = the_state.get();
  const OptionalGuard guard(state.lock, true);
  return {state.number, state.under_way};
}

}  // namespace gex::team
