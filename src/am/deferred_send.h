#pragma once
// Deferred sends: the remainder of an operation whose call must not wait for room, progressed by
// polling.

#include <memory>

namespace gex::am {

/// Something to send. It ends when `advance` has returned true.
class DeferredSend {
 public:
  DeferredSend() = default;
  virtual ~DeferredSend() = default;
  DeferredSend(const DeferredSend&) = delete;
  DeferredSend& operator=(const DeferredSend&) = delete;

  /// Sends what it can without waiting; whether nothing is left. One thread at a time.
  virtual bool advance() noexcept = 0;
};

/// Queues it for the polls of any thread. May be called in handlers.
void defer(std::unique_ptr<DeferredSend> send) noexcept;

/// Start-up only.
void start_deferred_sends();

}  // namespace gex::am
