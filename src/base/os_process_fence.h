#pragma once
// Memory fences in other threads (membarrier), so that one side of a synchronisation that is seldom
// used pays for both: in all threads of the process, or in those of other processes as well.

#include <atomic>

namespace gex::os {

namespace detail {
/// The last result of `enable_shared_fence`.
extern constinit std::atomic<bool> has_shared_fence;
}  // namespace detail

/// Asks the system for such fences; once, before other threads need them. Whether there are any.
bool enable_process_fence() noexcept;

/// Returns the last result of `enable_process_fence`.
bool has_process_fence() noexcept;

/// Every other thread of the process has gone through a full fence between the begin and the end of
/// this call. Ends the process if the system does not do it although it is registered for that. A
/// few microseconds.
void process_fence() noexcept;

/// A full fence of the calling thread's own.
inline void own_fence() noexcept {
#ifdef __SANITIZE_THREAD__
  // The sanitizer has no fences, and takes what is ordered by one for unordered.
  static std::atomic<int> order{0};
  order.fetch_add(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Lets `shared_fence` of any process include the threads of this one; once. Whether it does.
bool enable_shared_fence() noexcept;

/// Returns the last result of `enable_shared_fence`. One load.
inline bool has_shared_fence() noexcept {
  return detail::has_shared_fence.load(std::memory_order_relaxed);
}

/// As `process_fence`, in the threads of all processes that have enabled it. Only where this
/// process has.
void shared_fence() noexcept;

}  // namespace gex::os
