#include "rma/by_kind.h"

#include "core/memory.h"
#include "core/objects.h"
#include "core/thread.h"

namespace gex::rma {

void find_kind(ResolvedTransfer& transfer, const PublishedSegment& segment) noexcept {
  const MemoryKind* const here = kind_at(transfer.local);
  if (segment.reached != nullptr) {
    // Copies of a class reach all its devices; a second class is left to messages.
    if (here != nullptr && here->memory_class != segment.memory_class) return;
    transfer.reached = segment.reached + (transfer.remote - segment.owner_address);
    transfer.kind = here != nullptr ? here : segment.reached_by;
  } else if (here != nullptr && transfer.mapped != nullptr) {
    transfer.reached = transfer.mapped;
    transfer.kind = here;
  }
  if (transfer.kind == nullptr) return;
  const gex_Segment_t own = transfer.local_endpoint->segment;
  if (segment.mapped != nullptr)
    transfer.kind->pin({segment.mapped, segment.size}, transfer.mapped, transfer.size);
  if (here == nullptr && own != nullptr && own->contains(transfer.local, transfer.size))
    transfer.kind->pin({own->address, own->size}, transfer.local, transfer.size);
}

Injected put_by_kind(const ResolvedTransfer& transfer, const Targets& targets,
                     bool at_once) noexcept {
  if (!at_once) {
    transfer.kind->begin_copy(transfer.reached, transfer.local, transfer.size, targets.done,
                              targets.local_done);
    return {1, /*source_in_use=*/true};
  }
  transfer.kind->copy(transfer.reached, transfer.local, transfer.size);
  complete(targets.done);
  return {1};
}

Injected get_by_kind(const ResolvedTransfer& transfer, const Targets& targets) noexcept {
  transfer.kind->begin_copy(transfer.local, transfer.reached, transfer.size, targets.done, nullptr);
  return {1};
}

}  // namespace gex::rma
