#include "atomic/atomic.h"

#include <cstdint>

#include "atomic/native.h"
#include "atomic/operation.h"
#include "atomic/remote.h"
#include "core/initiate.h"
#include "core/progress.h"

namespace gex::atomic {

namespace {

/// Operations after which a poll is due.
constexpr std::uint32_t operations_a_poll = 64;
constinit thread_local std::uint32_t operations_begun __attribute__((tls_model("initial-exec"))) =
    0;

/// A rank may wait in a loop of operations on its own memory, of which nothing waits, for the
/// operation of another, which its polls perform.
void poll_now_and_then(gex_Flags_t flags) noexcept {
  if (++operations_begun % operations_a_poll != 0) [[likely]]
    return;
  if ((flags & GEX_FLAG_IMMEDIATE) == 0 && !handlers_run()) poll();
}

void operate_here(const AtomicRequest& operation, gex_Flags_t flags) noexcept {
  const std::uint64_t old = apply(operation.type, operation.target.mapped, operation.opcode,
                                  operation.operand1, operation.operand2, flags);
  if (fetches(operation.opcode)) gex_ad_write_(operation.type, operation.target.local, old);
}

bool is_here(const AtomicRequest& operation) noexcept {
  return operation.target.mapped != nullptr && !operation.by_network;
}

/// Starts an operation that the network performs, or the owner of the target, which a message asks.
Injected inject(const AtomicRequest& operation, const CompletionTargets& targets,
                gex_Flags_t flags) noexcept {
  const bool immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  const int refused = operation.by_network ? ask_network(operation, targets.done, immediate)
                                           : ask_owner(operation, targets.done, immediate);
  return refused != 0 ? not_injected : Injected{1};
}

}  // namespace

gex_Event_t operate_explicit(const AtomicRequest& operation, gex_Flags_t flags) noexcept {
  poll_now_and_then(flags);
  if (is_here(operation)) {
    operate_here(operation, flags);
    return GEX_EVENT_INVALID;
  }
  return initiate_with_event(operation.target.as(OpKind::atomic), category_of(operation.opcode),
                             LocalCompletion::with_done,
                             [&](const CompletionTargets& targets) noexcept {
                               return inject(operation, targets, flags);
                             })
      .event_or_no_op();
}

int operate_implicit(const AtomicRequest& operation, gex_Flags_t flags) noexcept {
  poll_now_and_then(flags);
  if (is_here(operation)) {
    operate_here(operation, flags);
    return 0;
  }
  const Initiated initiated = initiate_implicit(
      operation.target.as(OpKind::atomic), category_of(operation.opcode),
      LocalCompletion::with_done,
      [&](const CompletionTargets& targets) noexcept { return inject(operation, targets, flags); });
  return initiated.refused ? 1 : 0;
}

void start() {
  start_remote();
}

}  // namespace gex::atomic
