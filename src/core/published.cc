#include "core/published.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "base/error.h"
#include "base/os_memory_limits.h"
#include "core/endpoint_address.h"
#include "core/memory.h"
#include "core/process.h"

namespace gex {

namespace {

/// By endpoint address: the entries of all processes, once there is one, for good.
constinit std::atomic<PublishedSegment*> tables[endpoint_addresses] = {};
/// By endpoint address: the keys of all processes, once there is one: words, since keys are aligned
/// to 8 bytes. Guarded by `making_tables`.
constinit std::uint64_t* key_tables[endpoint_addresses] = {};
constinit std::mutex making_tables;
/// Shared: mappings stay.
constinit std::shared_mutex mapping_segments;

PublishedSegment* table_for_writing(unsigned endpoint_address) {
  const std::lock_guard lock(making_tables);
  std::atomic<PublishedSegment*>& table = tables[endpoint_address];
  if (table.load(std::memory_order_relaxed) == nullptr)
    // Release: a thread that finds the table finds empty entries.
    table.store(new PublishedSegment[gex_proc_.jobsize], std::memory_order_release);
  return table.load(std::memory_order_relaxed);
}

/// Where a process's key is kept.
std::uint64_t* key_place(unsigned endpoint_address, gex_Rank_t jobrank) {
  const std::size_t words = process().network.key_bytes / sizeof(std::uint64_t);
  const std::lock_guard lock(making_tables);
  std::uint64_t*& table = key_tables[endpoint_address];
  if (table == nullptr) table = new std::uint64_t[words * gex_proc_.jobsize];
  return table + words * jobrank;
}

}  // namespace

const PublishedSegment& published_segment(unsigned endpoint_address, gex_Rank_t jobrank) noexcept {
  static constinit const PublishedSegment none;
  // A TM-pair is a value, and may name an endpoint that does not exist.
  if (endpoint_address >= endpoint_addresses) return none;
  const PublishedSegment* table = tables[endpoint_address].load(std::memory_order_acquire);
  return table != nullptr && jobrank < gex_proc_.jobsize ? table[jobrank] : none;
}

void publish_own_segment(unsigned endpoint_address, const PublishedSegment& segment) noexcept {
  table_for_writing(endpoint_address)[gex_proc_.jobrank] = segment;
}

void publish_segment(unsigned endpoint_address, gex_Rank_t jobrank, std::uintptr_t owner_address,
                     std::uintptr_t size, std::uint64_t offset, net::MemoryKind kind) noexcept {
  PublishedSegment segment;
  segment.kind = kind;
  segment.owner_address = owner_address;
  segment.size = size;
  if (jobrank == gex_proc_.jobrank) {
    auto* const own = reinterpret_cast<std::byte*>(owner_address);
    if (kind == net::host_memory) {
      segment.mapped = own;
    } else if (size != 0) {
      segment.reached = own;
      segment.reached_by = kind_at(own);
    }
    publish_own_segment(endpoint_address, segment);
    return;
  }
  PublishedSegment& entry = table_for_writing(endpoint_address)[jobrank];
  shm::Neighborhood& neighborhood = process().neighborhood;
  const std::unique_lock lock(mapping_segments);
  if (size != 0 && offset != not_shared && neighborhood.contains(jobrank)) {
    segment.mapped = neighborhood.map_segment(neighborhood.local_index_of(jobrank), offset, size);
    if (segment.mapped == nullptr) {
      const int error = errno;
      fatal("cannot map the segment of rank %u, which is %s of shared memory: %s", jobrank,
            os::format_bytes(size).c_str(), std::strerror(error));
    }
  }
  // Only now, so that a segment which has not changed keeps its mapping.
  if (entry.mapped != nullptr) {
    if (memory_sharing() != nullptr) memory_sharing()->unpin(entry.mapped);
    neighborhood.unmap_segment(entry.mapped);
  }
  if (entry.reached != nullptr) memory_sharing()->close({entry.reached, entry.reached_by});
  entry = segment;
}

void publish_reached(unsigned endpoint_address, gex_Rank_t jobrank,
                     const OpenedMemory& opened) noexcept {
  PublishedSegment& entry = table_for_writing(endpoint_address)[jobrank];
  const std::unique_lock lock(mapping_segments);
  entry.reached = opened.reached;
  entry.reached_by = opened.by;
}

MappedSegments::MappedSegments() noexcept {
  mapping_segments.lock_shared();
}

MappedSegments::~MappedSegments() {
  mapping_segments.unlock_shared();
}

std::byte* MappedSegments::find(gex_Rank_t jobrank, std::uint64_t offset,
                                std::size_t bytes) const noexcept {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  if (offset == not_shared || !neighborhood.contains(jobrank)) return nullptr;
  return neighborhood.find_mapped(neighborhood.local_index_of(jobrank), offset, bytes);
}

void publish_key(unsigned endpoint_address, gex_Rank_t jobrank,
                 std::span<const std::byte> key) noexcept {
  std::uint64_t* const place = key_place(endpoint_address, jobrank);
  std::memcpy(place, key.data(), key.size());
  table_for_writing(endpoint_address)[jobrank].key = place;
}

}  // namespace gex
