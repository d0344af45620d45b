#include "base/os_signal_frame.h"

#include <signal.h>
#include <unwind.h>

namespace gex::os {

namespace {

/// Of a signal that comes from what the thread itself does. Its handlers have it blocked, and
/// hardly anybody else.
bool blocks_faults() noexcept {
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE})
    if (sigismember(&blocked, number) == 1) return true;
  return false;
}

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* found) noexcept {
  // A frame that was interrupted goes on before the instruction that it stands at; one that made a
  // call goes on behind it.
  int interrupted = 0;
  _Unwind_GetIPInfo(frame, &interrupted);
  if (interrupted == 0) return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_NORMAL_STOP;
}

}  // namespace

bool inside_signal_handler() noexcept {
  // Unwinding from where a program has gone astray may read what is no memory.
  if (blocks_faults()) return true;
  bool found = false;
  _Unwind_Backtrace(look_at_frame, &found);
  return found;
}

}  // namespace gex::os
