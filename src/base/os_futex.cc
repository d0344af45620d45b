#include "base/os_futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace gex::os {

namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace

void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::uint64_t limit_ns) noexcept {
  const timespec limit{static_cast<std::time_t>(limit_ns / ns_per_second),
                       static_cast<long>(limit_ns % ns_per_second)};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, limit_ns != 0 ? &limit : nullptr, nullptr, 0);
}

void wake_waiters(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace gex::os
