#include "base/os_fatal_signal.h"

#include <signal.h>

#include <cstddef>
#include <cstring>

#include "base/error.h"

namespace gex::os {

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void (*the_report)() noexcept = nullptr;

/// The handling is the default again: a faulting instruction faults anew when this returns. A
/// signal that was sent has to be sent anew.
void on_fatal_signal(int signal, siginfo_t* info, void*) noexcept {
  note("signal %d (%s)", signal, ::sigdescr_np(signal));
  the_report();
  if (info->si_code <= 0) ::raise(signal);
}

void give_stack_for_handlers() noexcept {
  static std::byte memory[std::size_t{64} << 10];
  stack_t stack{};
  if (::sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
  stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  ::sigaltstack(&stack, nullptr);
}

}  // namespace

void report_fatal_signals(void (*report)() noexcept) noexcept {
  the_report = report;
  give_stack_for_handlers();
  for (const int signal : signals) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_sigaction = on_fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace gex::os
