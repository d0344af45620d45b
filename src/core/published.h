#pragma once
// Published segments: where the bound segment of every endpoint that was published to this process
// lies, in its owner and here. Attach, Bind and Publish write it; teams' displacement arrays
// follow.
//
// An endpoint's own entry is read by any thread; it is written while that endpoint is idle.
//
// What Attach publishes of the first client's ranks is kept once in a neighborhood
// (shm/job_tables.h): a process has entries of its own for its neighbors, and for what is published
// otherwise.

#include <gasnetex.h>
#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/memory_sharing.h"

namespace gex {

struct PublishedSegment {
  std::uintptr_t owner_address = 0;
  std::uintptr_t size = 0;      ///< 0: none
  std::byte* mapped = nullptr;  ///< where this process has it mapped, or null; of the host's memory
  /// Where copies of `reached_by`, a kind of this process's, reach memory of another kind than the
  /// host's; null: they do not.
  std::byte* reached = nullptr;
  const MemoryKind* reached_by = nullptr;
  net::MemoryClass memory_class = net::host_memory;
  /// The network's, which stays where it is; null: its one-sided operations do not reach it.
  const void* key = nullptr;

  bool operator==(const PublishedSegment&) const = default;
  std::intptr_t displacement() const noexcept {
    return mapped == nullptr ? GEX_NOT_MAPPED_
                             : reinterpret_cast<std::intptr_t>(mapped) -
                                   static_cast<std::intptr_t>(owner_address);
  }
  bool contains(std::uintptr_t start, std::size_t bytes) const noexcept {
    const std::uintptr_t offset = start - owner_address;
    return offset <= size && bytes <= size - offset;
  }
  /// Where bytes of it are mapped here; null: not all are.
  std::byte* mapped_at(std::uintptr_t start, std::size_t bytes) const noexcept {
    return mapped != nullptr && contains(start, bytes) ? mapped + (start - owner_address) : nullptr;
  }
};

/// The segment of the endpoint with that address (endpoint_address in core/endpoint_address.h) in
/// that process; size 0 before it was published here.
PublishedSegment published_segment(unsigned endpoint_address, gex_Rank_t jobrank) noexcept;

/// The offset of memory that is not in shared memory.
inline constexpr std::uint64_t not_shared = ~std::uint64_t{0};

/// Records what a process bound, in the place of what was published before; the displacement arrays
/// are rewritten by `refresh_displacements`. A neighbor's segment is mapped here as long as it is
/// published: `offset` is its place in its owner's part of shared memory, or `not_shared`. Ends the
/// job in one line if it cannot be mapped. Memory of another kind than the host's is not mapped.
/// Any thread, but one for each endpoint.
void publish_segment(unsigned endpoint_address, gex_Rank_t jobrank, std::uintptr_t owner_address,
                     std::uintptr_t size, std::uint64_t offset,
                     net::MemoryClass memory_class = net::host_memory) noexcept;
/// Records that copies of a kind reach a segment that was published before. What was recorded so
/// before is closed when the segment is published again.
void publish_reached(unsigned endpoint_address, gex_Rank_t jobrank,
                     const OpenedMemory& opened) noexcept;
/// Records what this process bound to an endpoint of its own.
void publish_own_segment(unsigned endpoint_address, const PublishedSegment& segment) noexcept;

/// While one exists, memory of neighbors that is mapped here stays mapped. Its owner publishes
/// nothing meanwhile.
class MappedSegments {
 public:
  MappedSegments() noexcept;
  ~MappedSegments();
  MappedSegments(const MappedSegments&) = delete;
  MappedSegments& operator=(const MappedSegments&) = delete;

  /// Where bytes of a neighbor's part of shared memory are mapped, or null if no segment that is
  /// published to this process has them all.
  std::byte* find(gex_Rank_t jobrank, std::uint64_t offset, std::size_t bytes) const noexcept;
};

/// Adds the key of a segment that was published before, as `Conduit::register_segment` wrote it in
/// its owner. No operation uses that segment yet.
void publish_key(unsigned endpoint_address, gex_Rank_t jobrank,
                 std::span<const std::byte> key) noexcept;

/// Returns true if a neighborhood keeps what Attach publishes of that endpoint once, for all ranks:
/// the member that leads it fills that in, and the others wait until it has. Equal in all ranks.
/// Each of them then publishes all of it all the same, which takes memory only for neighbors. Of
/// others there are 8 bytes in the neighborhood, and the sizes, kinds and keys if they differ.
bool is_published_once(unsigned endpoint_address) noexcept;
/// A segment as Attach publishes it.
struct AttachedSegment {
  std::uintptr_t owner_address = 0;
  std::uintptr_t size = 0;
  net::MemoryClass memory_class = net::host_memory;
  std::span<const std::byte> key;  ///< empty: it has none
};
/// By the leader: `segment_of(jobrank)` of all ranks. Ends the job if there is no memory for it.
void fill_published(const std::function<AttachedSegment(gex_Rank_t jobrank)>& segment_of);
/// How often the leader has. Acquire.
std::uint32_t published_fills() noexcept;

/// Rewrites the displacement array of every team. In checked mode they are not read.
void refresh_displacements() noexcept;

/// Makes every operation a call until `restore_displacements`. Operations of other threads go on.
void withdraw_displacements() noexcept;
void restore_displacements() noexcept;

}  // namespace gex
