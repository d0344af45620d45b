#include "rma/by_kind.h"

#include "core/memory.h"
#include "core/thread.h"

namespace gex::rma {

Injected put_by_kind(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                     bool at_once) noexcept {
  if (!at_once) {
    transfer.kind->begin_copy(transfer.reached, transfer.local, transfer.size, targets.done,
                              targets.local_done);
    return {1, /*completes_local_done=*/true};
  }
  transfer.kind->copy(transfer.reached, transfer.local, transfer.size);
  complete(targets.done);
  return {1};
}

Injected get_by_kind(const ResolvedTransfer& transfer, const CompletionTargets& targets) noexcept {
  transfer.kind->begin_copy(transfer.local, transfer.reached, transfer.size, targets.done, nullptr);
  return {1};
}

}  // namespace gex::rma
