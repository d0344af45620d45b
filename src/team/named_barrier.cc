#include "team/named_barrier.h"

#include <array>
#include <vector>

#include "am/internal.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "observe/trace.h"

namespace gex::team {

namespace {

constinit am::Internal named_message{"named barrier"};

constexpr unsigned max_rounds = 32;

/// One of two barriers that can be under way: a faster rank may be in the next one already.
struct Phase {
  std::array<bool, max_rounds> received{};
  std::array<BarrierValue, max_rounds> values{};
};

/// The lock is held where a barrier is notified, where its messages are sent and received and where
/// it is found complete. It and the messages, each a release and an acquire, order all that members
/// did before notifying before what they do after waiting: no fences of its own are needed.
struct State {
  SpinLock lock;
  Phase phases[2];
  std::uint32_t number = 0;  ///< barriers notified
  bool under_way = false;
  unsigned round = 0;  ///< next to be passed
  bool sent = false;   ///< message of `round`
  BarrierValue value;
  BarrierValue result;
};
Immortal<State> the_state;

unsigned round_count() noexcept {
  unsigned rounds = 0;
  while ((std::uint64_t{1} << rounds) < gex_proc_.jobsize) ++rounds;
  return rounds;
}

struct Arrival {
  std::int32_t parity;
  std::uint32_t round;
  std::int32_t knowledge;
  std::int32_t id;
};

void on_named_barrier(gex_Token_t token, const Arrival& arrival, void*, std::size_t) noexcept {
  State& state = the_state.get();
  const std::uint32_t round = arrival.round;
  const gex_Rank_t source = token->header.source;
  if (round >= round_count())
    fatal("rank %u: a named barrier's message names round %u of %u", source, round, round_count());
  if (arrival.parity != 0 && arrival.parity != 1)
    fatal("rank %u: a named barrier's message of parity %d", source, arrival.parity);
  if (arrival.knowledge < 0 || arrival.knowledge > static_cast<int>(Knowledge::mismatch))
    fatal("rank %u: a named barrier's message has the invalid state %d", source, arrival.knowledge);
  const std::uint64_t distance = std::uint64_t{1} << round;
  if ((source + distance) % gex_proc_.jobsize != gex_proc_.jobrank)
    fatal("rank %u: a named barrier's message of round %u, which another rank sends", source,
          round);
  const OptionalGuard guard(state.lock, true);
  Phase& phase = state.phases[arrival.parity];
  if (phase.received[round])
    fatal("rank %u: a named barrier's message of round %u came twice", source, round);
  phase.values[round] = {static_cast<Knowledge>(arrival.knowledge), arrival.id};
  phase.received[round] = true;
}

bool send_round(const State& state) noexcept {
  Team& team = Team::from(gasnet1_client()->team);
  const auto to =
      static_cast<gex_Rank_t>((team.rank + (std::uint64_t{1} << state.round)) % team.size);
  const am::Packed packed(Arrival{static_cast<std::int32_t>(state.number & 1), state.round,
                                  static_cast<std::int32_t>(state.value.knowledge),
                                  state.value.id});
  am::Outbound message = packed.message_for(named_message);
  message.endpoints = am::endpoints_of(team.endpoint, 0);
  return am::send_request(team.jobrank_of(to), message, true) == 0;
}

/// Sends and combines as far as it goes; true if the barrier is complete.
bool advance(State& state) noexcept {
  Phase& phase = state.phases[state.number & 1];
  const unsigned rounds = round_count();
  while (state.round < rounds) {
    if (!state.sent && !(state.sent = send_round(state))) return false;
    if (!phase.received[state.round]) return false;
    state.value = combine(state.value, phase.values[state.round]);
    phase.received[state.round] = false;
    ++state.round;
    state.sent = false;
  }
  return true;
}

bool poll_named_barrier() noexcept {
  State& state = the_state.get();
  if (!state.lock.try_lock()) return false;
  const unsigned before = state.round;
  if (state.under_way) advance(state);
  const bool progressed = state.round != before;
  state.lock.unlock();
  return progressed;
}

/// Tries to complete; on success `mismatch` is the outcome for this caller.
bool try_finish(int id, int flags, bool& mismatch) noexcept {
  State& state = the_state.get();
  const OptionalGuard guard(state.lock, true);
  if (!advance(state)) return false;
  mismatch = mismatches(state.value, {id, flags});
  state.result = state.value;
  state.under_way = false;
  unwant_polls();
  return true;
}

}  // namespace

BarrierValue value_of(const BarrierArguments& arguments) noexcept {
  if ((arguments.flags & GASNET_BARRIERFLAG_MISMATCH) != 0) return {Knowledge::mismatch, 0};
  if ((arguments.flags & (GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_UNNAMED)) != 0)
    return {Knowledge::anonymous, 0};
  return {Knowledge::named, arguments.id};
}

BarrierValue combine(const BarrierValue& a, const BarrierValue& b) noexcept {
  if (a.knowledge == Knowledge::mismatch || b.knowledge == Knowledge::mismatch)
    return {Knowledge::mismatch, 0};
  if (a.knowledge == Knowledge::anonymous) return b;
  if (b.knowledge == Knowledge::anonymous) return a;
  return a.id == b.id ? a : BarrierValue{Knowledge::mismatch, 0};
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
  state.under_way = true;
  ++state.number;
  Team::from(gasnet1_client()->team)
      .status.named_barriers.store(state.number, std::memory_order_relaxed);
  // It belongs to no team, but to the job.
  trace::collective(trace::Collective::barrier, 0, state.number, gex_proc_.jobsize);
  state.round = 0;
  state.sent = false;
  state.value = value_of({id, flags});
  advance(state);
  want_polls();
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
        [&]() noexcept { return try_finish(id, flags, mismatch); }, WaitCause::barrier);
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

void start_named_barrier() {
  am::register_request<on_named_barrier>(named_message);
  register_poller(poll_named_barrier);
}

}  // namespace gex::team
