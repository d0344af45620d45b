#include "base/os_debugger.h"

#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "base/error.h"
#include "base/os_process.h"

namespace gex::os {

namespace {
// Relaxed: it is read by the thread that has set it, in the same signal handler.
std::atomic<const void*> fatal_signal_at{nullptr};
}  // namespace

void begin_backtraces_at(const void* interrupted) noexcept {
  fatal_signal_at.store(interrupted, std::memory_order_relaxed);
}

int print_backtrace(int descriptor, const void* interrupted) noexcept {
  if (interrupted == nullptr) interrupted = fatal_signal_at.load(std::memory_order_relaxed);
  void* frames[64];
  const int count = ::backtrace(frames, static_cast<int>(std::size(frames)));
  if (count <= 0) return -1;
  void** const end = frames + count;
  void** first = std::find(frames, end, interrupted);
  if (first == end) first = frames;
  ::backtrace_symbols_fd(first, static_cast<int>(end - first), descriptor);
  return 0;
}

const void* interrupted_at(const void* context) noexcept {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  return nullptr;
#endif
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

}  // namespace gex::os
