#include "base/os_fatal_signal.h"

#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "base/os_debugger.h"

namespace gex::os {

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void (*the_report)() noexcept = nullptr;
void (*the_explanation)(std::uintptr_t address) noexcept = nullptr;

void explain_fault(const siginfo_t& info, [[maybe_unused]] const void* context) noexcept {
  if (info.si_code != SI_KERNEL) {
    the_explanation(reinterpret_cast<std::uintptr_t>(info.si_addr));
    return;
  }
#if defined(__x86_64__)
  // An address whose upper 17 bits are not alike is refused before it is known to be one.
  constexpr std::int64_t half = std::int64_t{1} << 47;
  for (const std::int64_t value : static_cast<const ucontext_t*>(context)->uc_mcontext.gregs)
    if (value < -half || value >= half) the_explanation(static_cast<std::uintptr_t>(value));
#endif
}

/// With the handling at its default a faulting instruction faults anew when this returns. A signal
/// that was sent has to be sent anew.
void on_fatal_signal(int signal, siginfo_t* info, void* context) noexcept {
  // Also where a handler of the client's has called this one.
  ::signal(signal, SIG_DFL);
  if (signal == SIGSEGV && the_explanation != nullptr && info->si_code > 0)
    explain_fault(*info, context);
  if (the_report != nullptr) {
    note("signal %d (%s)", signal, ::sigdescr_np(signal));
    begin_backtraces_at(interrupted_at(context));
    the_report();
  }
  if (info->si_code <= 0) ::raise(signal);
}

void handle_unless_handled(int signal) noexcept {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action = {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
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
  for (const int signal : signals) handle_unless_handled(signal);
}

void explain_faults(void (*explain)(std::uintptr_t address) noexcept) noexcept {
  the_explanation = explain;
  handle_unless_handled(SIGSEGV);
}

}  // namespace gex::os
