#include "rma/way.h"

#include "core/memory.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/segment.h"

namespace gex::rma {

namespace {

/// Finds the kind whose copies reach both sides, and has it pin those of the host. Returns true if
/// there is one.
bool choose_kind(ResolvedTransfer& transfer, const PublishedSegment& segment,
                 std::size_t local_size) noexcept {
  const MemoryKind* const here = transfer.local_kind;
  if (segment.reached != nullptr) {
    // Copies of a class reach all its devices; a second class is left to messages.
    if (here != nullptr && here->memory_class != segment.memory_class) return false;
    transfer.reached = segment.reached + (transfer.remote - segment.owner_address);
    transfer.kind = here != nullptr ? here : segment.reached_by;
  } else if (here != nullptr && transfer.mapped != nullptr) {
    transfer.reached = transfer.mapped;
    transfer.kind = here;
  }
  if (transfer.kind == nullptr) return false;
  const gex_Segment_t own = transfer.peer.local_endpoint->segment;
  if (segment.mapped != nullptr)
    transfer.kind->pin({segment.mapped, segment.size}, transfer.mapped, transfer.size);
  if (here == nullptr && own != nullptr && own->contains(transfer.local, local_size))
    transfer.kind->pin({own->address, own->size}, transfer.local, local_size);
  return true;
}

/// Returns true if the network itself reads and writes the local side.
bool is_local_reached(const ResolvedTransfer& transfer, std::size_t local_size) noexcept {
  if (transfer.local_kind == nullptr) return true;
  const gex_Segment_t own = transfer.peer.local_endpoint->segment;
  return own != nullptr && own->kind != nullptr && own->contains(transfer.local, local_size) &&
         is_local_for_network(*own);
}

}  // namespace

bool choose_way(ResolvedTransfer& transfer, const PublishedSegment& segment,
                std::size_t local_size) noexcept {
  if (!segment.contains(transfer.remote, transfer.size)) [[unlikely]]
    return false;
  if (segment.mapped != nullptr)
    transfer.mapped = segment.mapped + (transfer.remote - segment.owner_address);
  transfer.key = segment.key;
  transfer.remote_class = segment.memory_class;
  if (has_other_kinds() && transfer.size != 0 && choose_kind(transfer, segment, local_size))
      [[unlikely]]
    transfer.way = Way::kind;
  else if (transfer.mapped != nullptr)
    transfer.way = Way::copy;
  else if (transfer.key != nullptr && process().conduit->put != nullptr &&
           is_local_reached(transfer, local_size))
    transfer.way = Way::network;
  return true;
}

}  // namespace gex::rma
