#include "base/os_debugger.h"

#include <execinfo.h>
#include <unistd.h>
#include <atomic>

#include "base/env.h"
#include "base/error.h"
#include "base/os_process.h"

/// In the global namespace and never optimised away, so that a debugger finds it by name.
[[gnu::used]] volatile int gex_frozen = 1;

namespace gex::os {
namespace {

bool enabled(env::Variable variable) noexcept {
  const char* text = env::raw(variable);
  return text != nullptr && env::parse_boolean(text).value_or(false);
}

int print_backtrace_if_enabled(int descriptor) {
  return enabled(env::Variable::backtrace) ? print_backtrace(descriptor) : -1;
}

// Relaxed: the word stands alone.
std::atomic<int (*)(int)> error_backtrace{&print_backtrace_if_enabled};

}  // namespace

int print_backtrace(int descriptor) noexcept {
  void* frames[64];
  const int count = ::backtrace(frames, static_cast<int>(std::size(frames)));
  if (count <= 0) return -1;
  ::backtrace_symbols_fd(frames, count, descriptor);
  return 0;
}

void prepare_backtrace() noexcept {
  void* frame;
  ::backtrace(&frame, 1);
}

void freeze(volatile int* flag, const char* flag_name) noexcept {
  note("process %d waits for a debugger: gdb -p %d, then: set var *(int *)&%s = 0", process_id(),
       process_id(), flag_name);
  while (*flag != 0) ::sleep(1);
}

void set_error_backtrace(int (*print)(int descriptor)) noexcept {
  error_backtrace.store(print, std::memory_order_relaxed);
}

void on_error() noexcept {
  error_backtrace.load(std::memory_order_relaxed)(STDERR_FILENO);
  if (enabled(env::Variable::freeze_on_error)) freeze(&gex_frozen, "gex_frozen");
}

}  // namespace gex::os
