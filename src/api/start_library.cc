#include "api/start_library.h"

#include "am/network.h"
#include "am/startup.h"
#include "api/start_process.h"
#include "api/verbose_counts.h"
#include "api/verbose_pairs.h"
#include "atomic/atomic.h"
#include "coll/coll.h"
#include "core/process.h"
#include "core/progress.h"
#include "kinds/kinds.h"
#include "launch/client/hook.h"
#include "legacy/memset.h"
#include "rma/rma.h"
#include "team/absence.h"
#include "team/barrier.h"
#include "team/exchange.h"
#include "vis/vis.h"

namespace gex {

namespace {

/// While this process waits for the others to end; it may do so in a handler.
void idle_poll(bool serve) noexcept {
  if (handlers_run()) return;
  if (serve)
    poll();
  else if (process().conduit != nullptr)
    process().conduit->poll(0, 0);
}

}  // namespace

void start_library(const CommandLine& line) {
  launch::register_launch_hook();
  kinds::expect();
  start_process(am::deliver_from_network, line);
  am::start();
  report_pairs();
  report_counts_at_exit();
  rma::start();
  atomic::start();
  team::start_exchange();
  team::start_barriers();
  team::start_absence();
  vis::start();
  coll::start();
  legacy::start_memset();
  kinds::start();
  process().job->set_idle_poll(idle_poll, ranks_per_core());
  // No rank sends before all can receive.
  process().job->barrier();
}

}  // namespace gex
