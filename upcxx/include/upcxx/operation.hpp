/// @file
/// Operations that the network has not completed. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_OPERATION_HPP_
#define UPCXX_OPERATION_HPP_

#include <upcxx/persona.hpp>

namespace upcxx {
namespace detail {

/// An operation under way, of the persona that initiated it. Internal progress calls
/// source_completed() and completed(), in this order; run(), as of any task, is user progress.
class Operation : public Task {
 public:
  using Task::Task;
  /// The source buffer may be written to again. Only called if there was a source event.
  virtual void source_completed() {}
  /// The operation is over, and frees itself, or puts itself where it will be run.
  virtual void completed() = 0;

  // Events of libgex; null: there is no event, or it is over.
  void* event = nullptr;
  void* source_event = nullptr;
  Operation* next = nullptr;

 protected:
  ~Operation() = default;
};

/// Has internal progress of the current persona watch the operation, whose events are set.
UPCXXI_EXPORT void watch(Operation* operation);

}  // namespace detail
}  // namespace upcxx

#endif
