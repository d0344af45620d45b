// A wait with user progress, as hang reports and traces show it.
#ifndef UPCXX_SRC_WAITING_H_
#define UPCXX_SRC_WAITING_H_

#include <sched.h>

#include "process.h"

namespace upcxx::detail {

/// While one exists, the calling thread waits: it makes steps until what it waits for is there.
class Waiting {
 public:
  Waiting(const char* call, const char* file, unsigned line);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// User progress. Returns true if nothing has happened for so long that others may have the
  /// processor.
  bool step(gex_Event_t event = GEX_EVENT_INVALID);

 private:
  void make_text();
  bool is_shown() const;

  const char* const call_;
  const char* const file_;
  const unsigned line_;
  unsigned idle_steps_ = 0;
  // Shown of the wait, once it has lasted.
  gex_Rank_t peer_ = GEX_RANK_INVALID;
  char text_[160];
  char interval_[56];
};

template <class Ready>
[[gnu::cold, gnu::noinline]] void wait_long(Ready ready, const char* call, const char* file,
                                            unsigned line, gex_Event_t event) {
  Waiting waiting(call, file, line);
  // As GASNET_BLOCKUNTIL does, but for its poll, which is that of the step.
  std::uint32_t pauses = 0;
  while (!ready()) {
    const bool is_idle = waiting.step(event);
    if (ready()) return;
    if (may_sleep()) {
      gex_wait_pause_(&pauses);
    } else if (is_idle) {
      sched_yield();
    }
  }
}

/// Makes user progress until `ready()`, which may be that `event` is, and is not yet. Ends the job
/// if the caller is in a callback, where what it waits for cannot happen.
template <class Ready>
void wait_for(Ready ready, const char* call, const char* file = nullptr, unsigned line = 0,
              gex_Event_t event = GEX_EVENT_INVALID) {
  if (this_thread.callbacks > 0) require_unrestricted(call);
  // Most waits end in the loop, and only a trace shows them.
  for (unsigned steps_left = is_traced ? 0 : quick_steps; steps_left > 0; --steps_left) {
    const bool progressed = make_progress(progress_level::user);
    if (ready()) return;
    if (progressed) steps_left = quick_steps;
  }
  wait_long(ready, call, file, line, event);
}

}  // namespace upcxx::detail

#endif
