#pragma once
// A lock for a few instructions between threads of one process.
//
// When the process is single-threaded by contract (SEQ, PARSYNC) nothing can contend, and the lock
// does nothing: its owner passes at each call whether there are other threads.

#include <atomic>

#include "base/spin.h"

namespace gex {

class SpinLock {
 public:
  bool try_lock() noexcept {
    // Acquire: what the last holder wrote is seen.
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  void lock() noexcept {
    Waiter waiter;
    while (!try_lock()) waiter.wait();
  }
  // Release: pairs with the acquire of the next holder.
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

/// Holds a lock, of this kind or the standard library's, for a scope, if `needed`.
template <class Lock>
class OptionalGuard {
 public:
  OptionalGuard(Lock& lock, bool needed) noexcept : lock_(needed ? &lock : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~OptionalGuard() {
    if (lock_ != nullptr) lock_->unlock();
  }
  OptionalGuard(const OptionalGuard&) = delete;
  OptionalGuard& operator=(const OptionalGuard&) = delete;

 private:
  Lock* lock_;
};

}  // namespace gex
