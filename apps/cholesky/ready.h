#pragma once
// The tasks of a rank that can run.

#include <optional>
#include <queue>
#include <upcxx/upcxx.hpp>
#include <utility>
#include <vector>

namespace cholesky {

/// Callbacks push tasks. `Compare` is as for std::priority_queue.
template <class Task, class Compare>
class Ready {
 public:
  void push(const Task& task) {
    queue_.push(task);
    if (!next_) return;
    // Moved out first: what is waited for goes on in the call.
    upcxx::promise<> next = *std::move(next_);
    next_.reset();
    next.fulfill_result();
  }
  /// Makes progress until there is a task. A rank without one sleeps in the wait, where a loop of
  /// progress() would take a processor from ranks that have some.
  Task pop() {
    upcxx::progress();
    if (queue_.empty()) next_.emplace().get_future().wait();
    Task task = queue_.top();
    queue_.pop();
    return task;
  }

 private:
  std::priority_queue<Task, std::vector<Task>, Compare> queue_;
  std::optional<upcxx::promise<>> next_;  ///< While pop() waits.
};

}  // namespace cholesky
