#pragma once
// A worker of UCX's, which only one thread may use at a time, and the lock for that.
//
// UCX calls back from inside its functions, hence with the lock held: nothing that is called back
// takes it, and messages are delivered to handlers after it was released.

#include <ucp/api/ucp.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "base/spin_lock.h"
#include "net/ucx/context.h"

namespace gex::net::ucx {

class Worker {
 public:
  Worker(const Context& context, bool threaded, std::string& error);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Leaves a worker whose address was asked for, and its context, to the end of the process. UCX
  /// ends a process that destroys a worker of which a connection is still being made, which a peer
  /// may begin at any time, and does not report those.
  ~Worker();

  ucp_worker_h get() const noexcept { return worker_; }
  bool is_threaded() const noexcept { return threaded_; }
  /// Can be read when there is something for UCX to do, once `arm_wait` has returned true; -1: the
  /// worker has none.
  int wait_descriptor() const noexcept { return wait_descriptor_; }
  /// Whether a thread may sleep on it now: nothing has come that UCX has not seen. With the worker
  /// in use.
  bool arm_wait() const noexcept { return ucp_worker_arm(worker_) == UCS_OK; }
  /// By which peers reach it.
  std::vector<std::byte> address(std::string& error);

  /// Held for a scope around every function of UCX's about this worker or its endpoints.
  class Use : OptionalGuard<std::mutex> {
   public:
    explicit Use(Worker& worker) noexcept
        : OptionalGuard<std::mutex>(worker.mutex_, worker.threaded_) {}
  };
  /// Takes the worker into use unless another thread has it in use. The caller unlocks.
  bool try_lock() { return !threaded_ || mutex_.try_lock(); }
  void unlock() {
    if (threaded_) mutex_.unlock();
  }

 private:
  const Context& context_;
  ucp_worker_h worker_ = nullptr;
  int wait_descriptor_ = -1;  ///< UCX's own
  const bool threaded_;
  bool has_given_address_ = false;
  std::mutex mutex_;
};

}  // namespace gex::net::ucx
