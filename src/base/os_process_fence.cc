#include "base/os_process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"

namespace gex::os {

namespace {

long membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0);
}

std::atomic<bool> enabled{false};

}  // namespace

constinit std::atomic<bool> detail::has_shared_fence{false};

bool enable_process_fence() noexcept {
  const bool is_registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  enabled.store(is_registered, std::memory_order_relaxed);
  return is_registered;
}

bool has_process_fence() noexcept {
  return enabled.load(std::memory_order_relaxed);
}

void process_fence() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
    fatal_system("a memory fence in all threads (membarrier)", errno);
}

bool enable_shared_fence() noexcept {
  const bool is_registered = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
  detail::has_shared_fence.store(is_registered, std::memory_order_relaxed);
  return is_registered;
}

void shared_fence() noexcept {
  if (membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
    fatal_system("a memory fence in all ranks of this host (membarrier)", errno);
}

}  // namespace gex::os
