#include "observe/start.h"

#include "base/env.h"
#include "core/observer.h"
#include "core/process.h"
#include "core/thread.h"
#include "observe/backtrace_signal.h"
#include "observe/followed.h"
#include "observe/in_call.h"
#include "observe/looked_at.h"
#include "observe/thread_part.h"
#include "observe/trace.h"

namespace gex::observe {

namespace {

/// A record that another thread takes over is in no call.
void leave_calls(ThreadRecord& thread) noexcept {
  if (ThreadPart* const part = PartSlot::of(thread)) part->calls = 0;
}

}  // namespace

void start() {
  // Read by a library that checks in any case too, so that all refuse a malformed value.
  gex_proc_.observed = env::boolean(env::Variable::check) ? GEX_OBSERVED_CHECKS_ : 0;
#ifdef GEX_DEBUG
  gex_proc_.observed = GEX_OBSERVED_CHECKS_;
#endif
  if (env::seconds(env::Variable::hang_after) > 0) {
    gex_proc_.observed |= GEX_OBSERVED_PROGRESS_;
    accept_backtrace_signal();
  }
  register_renewal(leave_calls);
  observe_by({trace::wait_begins, trace::wait_ends, follow, settle, complete_followed, note_poll});
  trace::start();
  if (traced()) {
    trace::name_fact(trace::Fact::threading_mode, mode_name(gex_proc_.mode));
    trace::name_fact(trace::Fact::library_version, GEX_LIBRARY_VERSION);
  }
  InCall::note_from_start();
}

void name_network(const char* name) noexcept {
  if (traced()) trace::name_fact(trace::Fact::conduit, name);
}

}  // namespace gex::observe
