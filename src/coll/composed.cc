#include "coll/composed.h"

namespace gex::coll {

void prepare_part(Collective& part, const Request& whole) noexcept {
  part.request = whole;
  part.request.completes_together = false;
  part.entered = false;
  // Relaxed: no other thread has it.
  part.done.store(false, std::memory_order_relaxed);
}

void LaunchOrder::launch(ComposedCollective& operation) {
  operation.set_up();
  pending_.push(operation);
  under_way_.push_back(&operation);
  advance();
}

void LaunchOrder::launch(MessageCollective& operation) {
  pending_.push(operation);
  launch_pending();
}

bool LaunchOrder::advance() {
  bool progressed = launch_pending();
  const auto finished = std::erase_if(under_way_, [&](ComposedCollective* operation) {
    progressed |= operation->advance_parts();
    if (!operation->has_moved()) return false;
    operation->finish();
    return true;
  });
  return progressed || finished != 0;
}

bool LaunchOrder::launch_pending() {
  bool progressed = false;
  while (!pending_.empty()) {
    Collective& next = *pending_.front();
    if (next.way == Way::messages) {
      pending_.pop();
      messages_.launch(static_cast<MessageCollective&>(next));
    } else {
      auto& composed = static_cast<ComposedCollective&>(next);
      progressed |= composed.launch_parts();
      if (!composed.is_launched()) return progressed;
      pending_.pop();
    }
    progressed = true;
  }
  return progressed;
}

}  // namespace gex::coll
