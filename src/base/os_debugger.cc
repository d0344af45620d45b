#include "base/os_debugger.h"

#include <execinfo.h>
#include <unistd.h>
#include <iterator>

#include "base/error.h"
#include "base/os_process.h"

namespace gex::os {

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

}  // namespace gex::os
