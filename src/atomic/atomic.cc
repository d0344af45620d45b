#include "atomic/atomic.h"

#include "atomic/native.h"
#include "atomic/operation.h"
#include "atomic/remote.h"
#include "core/event.h"

namespace gex::atomic {

namespace {

void operate_here(const Operation& operation, gex_Flags_t flags) noexcept {
  const std::uint64_t old = apply(operation.type, operation.target.mapped, operation.opcode,
                                  operation.operand1, operation.operand2, flags);
  if (fetches(operation.opcode)) gex_ad_write_(operation.type, operation.target.local, old);
}

bool is_here(const Operation& operation) noexcept {
  return operation.target.mapped != nullptr && !operation.by_network;
}

/// Has somebody else carry the operation out, as `ask_owner` and `ask_network` say.
int ask(const Operation& operation, CompletionTarget done, gex_Flags_t flags) noexcept {
  const bool immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  return operation.by_network ? ask_network(operation, done, immediate)
                              : ask_owner(operation, done, immediate);
}

}  // namespace

gex_Event_t operate_explicit(const Operation& operation, gex_Flags_t flags) noexcept {
  if (is_here(operation)) {
    operate_here(operation, flags);
    return GEX_EVENT_INVALID;
  }
  const unsigned category = category_of(operation.opcode);
  ThreadRecord& thread = this_thread();
  Event& event = allocate_event(thread);
  event.counters.initiated[category] = 1;
  if (ask(operation, &event.counters.completed[category], flags) != 0) {
    free_event(thread, event);
    return GEX_EVENT_NO_OP;
  }
  return handle_of(event);
}

int operate_implicit(const Operation& operation, gex_Flags_t flags) noexcept {
  if (is_here(operation)) {
    operate_here(operation, flags);
    return 0;
  }
  const unsigned category = category_of(operation.opcode);
  Counters& counters = this_thread().implicit_counters();
  if (ask(operation, &counters.completed[category], flags) != 0) return 1;
  ++counters.initiated[category];
  return 0;
}

void start() {
  start_remote();
}

}  // namespace gex::atomic
