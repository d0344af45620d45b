#include "base/os_signal_frame.h"

#include <signal.h>
#include <unwind.h>

#include <algorithm>
#include <iterator>

namespace gex::os {

namespace {

/// Returns true if some of the signals are blocked that a thread's own faults raise, as in their
/// handlers. A thread that blocks all signals, as workers of many programs do, is in none.
bool blocks_some_faults() noexcept {
  constexpr int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  const auto count = std::count_if(std::begin(faults), std::end(faults),
                                   [&](int number) { return sigismember(&blocked, number) == 1; });
  return count != 0 && count != std::ssize(faults);
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
  // Unwinding from where a program went astray may read unmapped memory.
  if (blocks_some_faults()) return true;
  bool found = false;
  _Unwind_Backtrace(look_at_frame, &found);
  return found;
}

}  // namespace gex::os
