#include "base/os_process_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace gex::os {

namespace {

using Copy = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

int copy(Copy call, int process, std::byte* here, std::uint64_t there, std::size_t bytes) noexcept {
  while (bytes != 0) {
    const iovec local{here, bytes};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(there)), bytes};
    const ssize_t copied = call(process, &local, 1, &remote, 1, 0);
    if (copied < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    // The kernel stops in front of an address that is not mapped, and reports that the next time.
    here += copied;
    there += static_cast<std::uint64_t>(copied);
    bytes -= static_cast<std::size_t>(copied);
  }
  return 0;
}

}  // namespace

int read_process_memory(int process, void* to, std::uint64_t from, std::size_t bytes) noexcept {
  return copy(::process_vm_readv, process, static_cast<std::byte*>(to), from, bytes);
}

int write_process_memory(int process, std::uint64_t to, const void* from,
                         std::size_t bytes) noexcept {
  return copy(::process_vm_writev, process, static_cast<std::byte*>(const_cast<void*>(from)), to,
              bytes);
}

void allow_memory_access_by_siblings() noexcept {
#ifdef PR_SET_PTRACER
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(::getppid()), 0, 0, 0);
#endif
}

}  // namespace gex::os
