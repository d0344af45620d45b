#pragma once
// A doorbell: how a thread sleeps until another thread or process has stored something for it.
//
//   the sleeper                                   another thread
//     bell.sleep(limit, [] { return any(); });      stores something
//                                                   bell.ring();
//
// The other thread stores and then looks whether the sleeper sleeps; the sleeper notes that it
// sleeps and then looks whether there is something. Each needs its store to be seen before its
// look. The sleeper pays for both, by a fence in all processes that use the bell
// (base/os_process_fence.h), so that a ring costs one load of a line that hardly ever changes. A
// process that is not included in such fences makes its own.
//
// Requires: in memory that is zero before its first use; one thread sleeps at a time. `ring` may be
// called by any thread of any process.

#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/os_futex.h"
#include "base/os_process_fence.h"

namespace gex::shm {

class alignas(cache_line) Doorbell {
 public:
  /// Wakes the sleeper, if there is one. What the caller stored before is seen by it.
  void ring() noexcept {
    // The fence of the sleeper stands between what was stored before and this load: nothing but an
    // order for the compiler here.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (os::has_shared_fence() ? asleep_.load(std::memory_order_relaxed) != no
                               : asleep_.fetch_add(0, std::memory_order_seq_cst) != no) [[unlikely]]
      wake();
  }

  /// Sleeps until a ring, at most `limit_ns` (0: without a limit, only where `is_exact`); not if
  /// `has_work()`, which is asked once it is certain that a thread which stores something later
  /// will find the sleeper asleep.
  template <class HasWork>
  void sleep(std::uint64_t limit_ns, HasWork has_work) noexcept {
    asleep_.store(yes, std::memory_order_relaxed);
    if (is_exact()) os::shared_fence();
    if (!has_work()) os::wait_while(asleep_, yes, limit_ns);
    asleep_.store(no, std::memory_order_relaxed);
  }

  /// Whether no ring is missed. Otherwise the sleeper may miss one.
  static bool is_exact() noexcept { return os::has_shared_fence(); }

 private:
  static constexpr std::uint32_t no = 0;
  static constexpr std::uint32_t yes = 1;

  [[gnu::noinline, gnu::cold]] void wake() noexcept {
    // One of those that ring makes the system call. Relaxed: the message that the sleeper then
    // finds has its own order.
    if (asleep_.exchange(no, std::memory_order_relaxed) != no) os::wake_waiters(asleep_);
  }

  std::atomic<std::uint32_t> asleep_;
};
static_assert(sizeof(Doorbell) == cache_line);

}  // namespace gex::shm
