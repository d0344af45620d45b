#include "base/error_environment.h"

#include <unistd.h>
#include <atomic>

#include "base/env.h"
#include "base/error.h"
#include "base/os_debugger.h"
#include "base/os_fatal_signal.h"

/// In the global namespace and never optimised away, so that a debugger finds it by name.
[[gnu::used]] volatile int gex_frozen = 1;

namespace gex {
namespace {

/// Values that are no booleans count as 0 here: at an error is no place to fail again.
bool is_enabled(env::Variable variable) noexcept {
  const char* text = env::raw(variable);
  return text != nullptr && env::parse_boolean(text).value_or(false);
}

int print_backtrace_if_enabled(int descriptor) {
  return is_enabled(env::Variable::backtrace) ? os::print_backtrace(descriptor) : -1;
}

// Relaxed: the word stands alone.
std::atomic<int (*)(int)> error_backtrace{&print_backtrace_if_enabled};

bool is_quiet() noexcept {
  // Read once: a warning may be wanted after the client has changed its environment.
  static const bool value = env::boolean(env::Variable::quiet);
  return value;
}

bool is_verbose() noexcept {
  static const bool value = env::boolean(env::Variable::verbose);
  return value;
}

void on_fatal() noexcept {
  error_backtrace.load(std::memory_order_relaxed)(STDERR_FILENO);
  if (is_enabled(env::Variable::freeze_on_error)) os::freeze(&gex_frozen, "gex_frozen");
}

}  // namespace

void follow_error_environment() noexcept {
  static constexpr MessagePolicy policy{
      .is_quiet = is_quiet, .is_verbose = is_verbose, .on_fatal = on_fatal};
  set_message_policy(policy);
}

void follow_error_environment_in_signals() noexcept {
  if (!is_enabled(env::Variable::backtrace) && !is_enabled(env::Variable::freeze_on_error)) return;
  os::prepare_backtrace();
  os::report_fatal_signals(on_fatal);
}

void set_error_backtrace(int (*print)(int descriptor)) noexcept {
  error_backtrace.store(print, std::memory_order_relaxed);
}

}  // namespace gex
