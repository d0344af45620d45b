#pragma once
// Decides if, and for what, calls are observed: they are checked, recorded in a trace, or counted.
// In the first two cases no displacements are published, so that every operation takes its
// out-of-line form, whatever the client was compiled with. One word, which never changes once the
// job has started, so that code which has nothing to do for any of them tests it once.

#include <gasnetex.h>

namespace gex {

/// True when every call checks its usage: always in the debug library, else with GEX_CHECK=1.
inline bool checked() noexcept {
#ifdef GEX_DEBUG
  return true;
#else
  return (gex_proc_.observed & GEX_OBSERVED_CHECKS_) != 0;
#endif
}

/// True when events are recorded (GEX_TRACE).
inline bool traced() noexcept {
  return (gex_proc_.observed & GEX_OBSERVED_TRACE_) != 0;
}

/// True when handlers are counted and calls noted because the job's progress is watched
/// (GEX_HANG_AFTER). Displacements are published all the same.
inline bool progress_watched() noexcept {
  return (gex_proc_.observed & GEX_OBSERVED_PROGRESS_) != 0;
}

/// True when no displacements are published.
inline bool is_inline_withdrawn() noexcept {
  return checked() || traced();
}

/// Any of these.
inline bool observed() noexcept {
#ifdef GEX_DEBUG
  return true;
#else
  return gex_proc_.observed != 0;
#endif
}

}  // namespace gex
