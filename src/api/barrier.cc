// Entry points: barriers.

#include "team/barrier.h"

#include <gasnetex.h>

#include "base/error.h"
#include "core/restricted.h"
#include "team/named_barrier.h"

using gex::Call;
using gex::check_context;

extern "C" {

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  check_context(Call::barrier);
  if (flags != 0) gex::fatal("%s: unknown flags 0x%x", name_of(Call::barrier), flags);
  return gex::team::start_barrier(gex::require_team(tm, name_of(Call::barrier)));
}

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  check_context(Call::barrier);
  if (flags != 0) gex::fatal("%s: unknown flags 0x%x", name_of(Call::barrier), flags);
  gex::team::barrier_blocking(gex::require_team(tm, name_of(Call::barrier)));
}

void gasnet_barrier_notify(int id, int flags) {
  check_context(Call::barrier_notify);
  gex::team::barrier_notify(id, flags);
}
int gasnet_barrier_wait(int id, int flags) {
  check_context(Call::barrier_wait);
  return gex::team::barrier_finish(id, flags, true);
}
int gasnet_barrier_try(int id, int flags) {
  check_context(Call::barrier_try);
  return gex::team::barrier_finish(id, flags, false);
}
int gasnet_barrier(int id, int flags) {
  gasnet_barrier_notify(id, flags);
  return gasnet_barrier_wait(id, flags);
}
int gasnet_barrier_result(int* id) {
  return gex::team::barrier_result(id);
}

}  // extern "C"
