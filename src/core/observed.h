#pragma once
// Whether, and for what, calls are observed: they are checked, or recorded in a trace. Then no
// displacements are published, so that every operation takes its out-of-line form, whatever the
// client was compiled with. One word, which never changes once the job has started, so that who
// has nothing to do for either tests it once.

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

/// Either of the two.
inline bool observed() noexcept {
#ifdef GEX_DEBUG
  return true;
#else
  return gex_proc_.observed != 0;
#endif
}

}  // namespace gex
