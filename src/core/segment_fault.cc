#include "core/segment_fault.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/os_fatal_signal.h"
#include "base/os_process_memory.h"
#include "core/endpoint_address.h"
#include "core/process.h"
#include "core/published.h"

namespace gex {

namespace {

/// Processes of one program have libraries and large allocations at the same distance from one
/// another. What faults at an address that lies as near to a neighbor's segment as those do may be
/// anything that the neighbor has and this process has no more.
bool is_far_from(const PublishedSegment& segment, std::uintptr_t address) noexcept {
  constexpr std::uintptr_t near = std::uintptr_t{64} << 30;
  return address + near < segment.owner_address ||
         address > segment.owner_address + segment.size + near;
}

void explain_target(gex_Rank_t rank, const PublishedSegment& segment,
                    std::uintptr_t target) noexcept {
  std::byte there{};
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const int owner = neighborhood.process_of(neighborhood.local_index_of(rank));
  if (os::read_process_memory(owner, &there, target, 1) != 0) return;
  const auto at = static_cast<unsigned long>(target);
  const auto from = static_cast<unsigned long>(segment.owner_address);
  const auto behind = static_cast<unsigned long>(segment.owner_address + segment.size);
  if (is_far_from(segment, target))
    fatal(
        "a put or get for 0x%lx of rank %u, outside its segment (0x%lx to 0x%lx): here they reach "
        "segments alone (GASNET_SEGMENT_FAST); allocate the memory there; GEX_CHECK=1 names the "
        "call",
        at, rank, from, behind);
  note(
      "the fault that follows would be that of a put or get for 0x%lx of rank %u, outside its "
      "segment (0x%lx to 0x%lx): they reach segments alone; GEX_CHECK=1 names the call",
      at, rank, from, behind);
}

/// In a signal handler.
void explain(std::uintptr_t address) noexcept {
  for (const std::uint32_t rank : process().neighborhood.members()) {
    if (rank == gex_proc_.jobrank) continue;
    for (unsigned endpoint = 0; endpoint < endpoint_addresses; ++endpoint) {
      const PublishedSegment segment = published_segment(endpoint, rank);
      if (segment.mapped == nullptr) continue;
      const std::uintptr_t target = address - static_cast<std::uintptr_t>(segment.displacement());
      if (!segment.contains(target, 1)) explain_target(rank, segment, target);
    }
  }
}

}  // namespace

void explain_segment_faults() noexcept {
  if (process().neighborhood.size() > 1) os::explain_faults(explain);
}

}  // namespace gex
