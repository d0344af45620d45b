// The barrier of GASNet-1 over any team: the members' values are reduced to all.

#include <map>
#include <memory>

#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "coll/coll.h"
#include "core/event.h"
#include "core/progress.h"
#include "legacy/collectives.h"
#include "team/named_barrier.h"

namespace gex::legacy {

namespace {

using team::BarrierValue;

/// A barrier that has been notified; `value` is combined in place.
struct UnderWay {
  BarrierValue value;
  gex_Event_t event = GEX_EVENT_INVALID;
};

struct Barriers {
  SpinLock lock;
  std::map<const Team*, std::unique_ptr<UnderWay>> under_way;
};
Immortal<Barriers> the_barriers;

void combine_values(const void* left, void* right, std::size_t count, const void*) {
  const auto* from = static_cast<const BarrierValue*>(left);
  auto* to = static_cast<BarrierValue*>(right);
  for (std::size_t i = 0; i < count; ++i) to[i] = team::combine(from[i], to[i]);
}

}  // namespace

void team_barrier_notify(Team& team, int id, int flags) noexcept {
  auto made = std::make_unique<UnderWay>();
  UnderWay& barrier = *made;
  barrier.value = team::value_of({id, flags});
  {
    Barriers& all = the_barriers.get();
    const OptionalGuard guard(all.lock, true);
    if (!all.under_way.emplace(&team, std::move(made)).second)
      fatal(
          "gasnet_coll_barrier_notify: called twice without a gasnet_coll_barrier_wait or a "
          "successful gasnet_coll_barrier_try between");
  }
  coll::Request request;
  request.call = Call::coll_barrier_notify;
  request.kind = coll::Kind::reduce_to_all;
  request.source = reinterpret_cast<const std::byte*>(&barrier.value);
  request.destination = reinterpret_cast<std::byte*>(&barrier.value);
  request.bytes = request.reduction.element = sizeof barrier.value;
  request.reduction.user = combine_values;
  barrier.event = coll::start_collective(team, request);
}

int team_barrier_finish(Team& team, int id, int flags, bool wait) {
  Barriers& all = the_barriers.get();
  UnderWay* barrier = nullptr;
  {
    const OptionalGuard guard(all.lock, true);
    const auto found = all.under_way.find(&team);
    if (found == all.under_way.end())
      fatal("gasnet_coll_barrier_%s: no gasnet_coll_barrier_notify before it",
            wait ? "wait" : "try");
    barrier = found->second.get();
  }
  if (barrier->event != GEX_EVENT_INVALID) {
    if (wait) {
      wait_event(barrier->event);
    } else {
      poll();
      if (test_event(barrier->event) != GASNET_OK) return GASNET_ERR_NOT_READY;
    }
  }
  const bool mismatch = team::mismatches(barrier->value, {id, flags});
  const OptionalGuard guard(all.lock, true);
  all.under_way.erase(&team);
  return mismatch ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

}  // namespace gex::legacy
