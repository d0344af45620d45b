#include "base/os_time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace gex::os {

namespace {

/// The least that the kernel gives.
constexpr std::uint64_t short_ns = 100'000;

/// The kernel's sched_attr in its first form, which the C library may not have.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice_ns = 0;  ///< 0 from kernels in which no thread chooses it
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

/// Relaxed: a thread that does not see it yet is refused as well.
std::atomic<bool> is_refused{false};

/// Gives the calling thread that slice. Returns the one that it had; 0 if it chooses none.
std::uint64_t exchange_slice(std::uint64_t slice_ns) noexcept {
  if (is_refused.load(std::memory_order_relaxed)) return 0;
  // The others are passed on as they are now: another process may have changed them (nice).
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 &&
      attributes.slice_ns != 0) {
    if (attributes.policy != SCHED_OTHER) return 0;
    const std::uint64_t before_ns = attributes.slice_ns;
    attributes.slice_ns = slice_ns;
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) return before_ns;
  }
  is_refused.store(true, std::memory_order_relaxed);
  return 0;
}

}  // namespace

namespace detail {

constinit thread_local std::uint64_t usual_slice_ns __attribute__((tls_model("initial-exec"))) = 0;

void ask_for_short_slice() noexcept {
  usual_slice_ns = exchange_slice(short_ns);
}

void ask_for_usual_slice() noexcept {
  exchange_slice(usual_slice_ns);
  usual_slice_ns = 0;
}

}  // namespace detail

}  // namespace gex::os
