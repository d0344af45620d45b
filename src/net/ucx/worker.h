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
  /// Returns true if a thread may sleep on it now: nothing has come that UCX has not seen. With the
  /// worker in use.
  bool arm_wait() const noexcept { return ucp_worker_arm(worker_) == UCS_OK; }
  /// By which peers reach it.
  std::vector<std::byte> address(std::string& error);

  /// Has active messages of that number handed to `callback`, with `argument`; `flags`: beside that
  /// each comes whole. Returns false with the reason.
  bool receive(unsigned number, unsigned flags, ucp_am_recv_callback_t callback, void* argument,
               std::string& error);

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

/// How an active message is sent: whole, without waiting for its receiver to ask for it.
inline ucp_request_param_t eager_parameters(void* record,
                                            ucp_send_nbx_callback_t callback) noexcept {
  ucp_request_param_t parameters;
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                            UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  parameters.cb.send = callback;
  parameters.user_data = record;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  return parameters;
}

}  // namespace gex::net::ucx
