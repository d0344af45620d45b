#pragma once
// Locks that cost nothing in a process whose calls come one at a time.

#include <mutex>

namespace gex::net::ofi {

/// Holds a mutex for a scope, if `needed`.
class Guard {
 public:
  Guard(std::mutex& mutex, bool needed) : mutex_(needed ? &mutex : nullptr) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~Guard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::mutex* mutex_;
};

}  // namespace gex::net::ofi
