#include "launch/launcher_signals.h"

#include "base/os_proc.h"

namespace gex::launch {

SignalState take_over_signals() noexcept {
  SignalState before;
  struct sigaction reaped {};
  reaped.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &reaped, &before.children);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before.mask);
  return before;
}

void restore_signals(const SignalState& before) noexcept {
  sigaction(SIGCHLD, &before.children, nullptr);
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
}

sigset_t signals_to_handle(std::span<const int> wanted) noexcept {
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  for (const int number : wanted) {
    struct sigaction action {};
    const bool ignored = sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!ignored || number == SIGINT) sigaddset(&handled, number);
  }
  return handled;
}

bool stop_for(const ReceivedSignal& signal) {
  if (signal.by_terminal && !os::has_parent_in_session()) return false;
  raise(SIGSTOP);
  return true;
}

bool ends_job(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

}  // namespace gex::launch
