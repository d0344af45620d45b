// Entry points: barriers.

#include "team/barrier.h"

#include <gasnetex.h>

#include "api/require.h"
#include "base/error.h"
#include "coll/coll.h"
#include "observe/in_call.h"
#include "team/named_barrier.h"

using gex::Call;
using gex::in_call;
using gex::InCall;

namespace {

/// The team of a barrier that is about to start, announced to the checks of all collective calls.
template <class AnyCall>
gex::Team& begin(const AnyCall& call, gex_TM_t tm, gex_Flags_t flags) {
  gex::Team& team = gex::require_collective_team(call, tm, flags);
  if (call.is_checked()) gex::coll::announce(team, {.call = Call::barrier});
  return team;
}

void check_named(Call call, int flags) {
  gex::require_flags(
      static_cast<gex_Flags_t>(flags),
      GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_MISMATCH | GASNET_BARRIERFLAG_UNNAMED,
      name_of(call));
}

}  // namespace

extern "C" {

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  return in_call(Call::barrier, [=](auto& call) noexcept {
    return call.returns(gex::team::start_barrier(begin(call, tm, flags)));
  });
}

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  in_call(Call::barrier_blocking,
          [=](auto& call) { gex::team::barrier_blocking(begin(call, tm, flags)); });
}

void gasnet_barrier_notify(int id, int flags) {
  const InCall call(Call::barrier_notify);
  check_named(call, flags);
  gex::team::barrier_notify(id, flags);
}
int gasnet_barrier_wait(int id, int flags) {
  const InCall call(Call::barrier_wait);
  check_named(call, flags);
  return gex::team::barrier_finish(id, flags, true);
}
int gasnet_barrier_try(int id, int flags) {
  InCall call(Call::barrier_try);
  check_named(call, flags);
  return call.answers(gex::team::barrier_finish(id, flags, false));
}
int gasnet_barrier(int id, int flags) {
  gasnet_barrier_notify(id, flags);
  return gasnet_barrier_wait(id, flags);
}
int gasnet_barrier_result(int* id) {
  if (id == nullptr) gex::fatal("gasnet_barrier_result: the output pointer is null");
  return gex::team::barrier_result(id);
}

}  // extern "C"
