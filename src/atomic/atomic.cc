#include "atomic/atomic.h"

#include "atomic/operations.h"
#include "atomic/remote.h"
#include "core/event.h"

namespace gex::atomic {

namespace {

void operate_here(const Operation& operation, gex_Flags_t flags) noexcept {
  const std::uint64_t old = apply(operation.type, operation.target.mapped, operation.opcode,
                                  operation.operand1, operation.operand2, flags);
  if (fetches(operation.opcode)) gex_ad_write_(operation.type, operation.target.local, old);
}

bool is_immediate(gex_Flags_t flags) noexcept {
  return (flags & GEX_FLAG_IMMEDIATE) != 0;
}

}  // namespace

gex_Event_t operate_explicit(const Operation& operation, gex_Flags_t flags) noexcept {
  if (operation.target.mapped != nullptr) {
    operate_here(operation, flags);
    return GEX_EVENT_INVALID;
  }
  const unsigned category = category_of(operation.opcode);
  ThreadRecord& thread = this_thread();
  Event& event = allocate_event(thread);
  event.counters.initiated[category] = 1;
  if (ask_owner(operation, &event.counters.completed[category], is_immediate(flags)) != 0) {
    free_event(thread, event);
    return GEX_EVENT_NO_OP;
  }
  return handle_of(event);
}

int operate_implicit(const Operation& operation, gex_Flags_t flags) noexcept {
  if (operation.target.mapped != nullptr) {
    operate_here(operation, flags);
    return 0;
  }
  const unsigned category = category_of(operation.opcode);
  Counters& counters = this_thread().implicit_counters();
  if (ask_owner(operation, &counters.completed[category], is_immediate(flags)) != 0) return 1;
  ++counters.initiated[category];
  return 0;
}

void start() {
  start_remote();
}

}  // namespace gex::atomic
