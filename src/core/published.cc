#include "core/published.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/error.h"
#include "base/os_mapping.h"
#include "base/os_memory_limits.h"
#include "base/round_up.h"
#include "core/endpoint_address.h"
#include "core/memory.h"
#include "core/memory_class.h"
#include "core/process.h"
#include "core/waiting.h"

namespace gex {

namespace {

/// By endpoint address: the entries of all processes, with their keys, once there is one, for good.
constinit std::atomic<std::byte*> tables[endpoint_addresses] = {};
/// Bytes of an entry. Written before there is a table.
constinit std::size_t entry_bytes = 0;
constinit std::mutex making_tables;
/// Shared: mappings stay.
constinit std::shared_mutex mapping_segments;

/// Keys are aligned to 8 bytes.
std::size_t bytes_of_entry() noexcept {
  return round_up(sizeof(PublishedSegment) + process().network.key_bytes, 8);
}

PublishedSegment& entry_of(std::byte* table, gex_Rank_t jobrank) noexcept {
  return *reinterpret_cast<PublishedSegment*>(table + jobrank * entry_bytes);
}

/// Zero bytes are entries.
std::byte* make_table(unsigned endpoint_address) {
  if (!is_published_once(endpoint_address)) return new std::byte[entry_bytes * gex_proc_.jobsize]();
  os::Mapping mapping = process().neighborhood.job_tables()->map_segments();
  if (!mapping) fatal_system("cannot map the table of segments", errno);
  return mapping.release().data();
}

PublishedSegment& entry_for_writing(unsigned endpoint_address, gex_Rank_t jobrank) {
  const std::lock_guard lock(making_tables);
  std::atomic<std::byte*>& table = tables[endpoint_address];
  if (table.load(std::memory_order_relaxed) == nullptr) {
    entry_bytes = bytes_of_entry();
    // Release: a thread that finds the table finds empty entries.
    table.store(make_table(endpoint_address), std::memory_order_release);
  }
  return entry_of(table.load(std::memory_order_relaxed), jobrank);
}

}  // namespace

const PublishedSegment& published_segment(unsigned endpoint_address, gex_Rank_t jobrank) noexcept {
  static constinit const PublishedSegment none;
  // A TM-pair is a value, and may name an endpoint that does not exist.
  if (endpoint_address >= endpoint_addresses) return none;
  std::byte* const table = tables[endpoint_address].load(std::memory_order_acquire);
  return table != nullptr && jobrank < gex_proc_.jobsize ? entry_of(table, jobrank) : none;
}

void publish_own_segment(unsigned endpoint_address, const PublishedSegment& segment) noexcept {
  entry_for_writing(endpoint_address, gex_proc_.jobrank) = segment;
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
  PublishedSegment& entry = entry_for_writing(endpoint_address, jobrank);
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
  // Nothing is written where that would change nothing: the page may be the neighborhood's.
  if (segment.mapped == nullptr && entry == segment) return;
  // Only now, so that a segment which has not changed keeps its mapping.
  if (entry.mapped != nullptr) {
    unpin_memory(entry.mapped);
    neighborhood.unmap_segment(entry.mapped);
  }
  if (entry.reached != nullptr)
    memory_class(entry.reached_by->kind).sharing->close({entry.reached, entry.reached_by});
  entry = segment;
}

void publish_reached(unsigned endpoint_address, gex_Rank_t jobrank,
                     const OpenedMemory& opened) noexcept {
  PublishedSegment& entry = entry_for_writing(endpoint_address, jobrank);
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
  PublishedSegment& entry = entry_for_writing(endpoint_address, jobrank);
  if (entry.has_key != 0 && std::memcmp(&entry + 1, key.data(), key.size()) == 0) return;
  std::memcpy(&entry + 1, key.data(), key.size());
  // Release: the key is there before.
  __atomic_store_n(&entry.has_key, 1, __ATOMIC_RELEASE);
}

bool is_published_once(unsigned address) noexcept {
  return address == endpoint_address(0, 0) && process().neighborhood.job_tables() != nullptr &&
         bytes_of_entry() <= shm::JobTables::max_segment_entry;
}

void fill_published(const std::function<AttachedSegment(gex_Rank_t jobrank)>& segment_of) {
  const std::size_t stride = bytes_of_entry();
  std::vector<std::byte> entries(stride * gex_proc_.jobsize);
  const auto write = [&] {
    const int error = process().neighborhood.job_tables()->fill_segments(entries);
    if (error != 0) fatal_system("cannot write the table of segments", error);
  };
  const auto entry = [&](gex_Rank_t jobrank) -> PublishedSegment& {
    return *reinterpret_cast<PublishedSegment*>(entries.data() + jobrank * stride);
  };
  std::vector<bool> has_key(gex_proc_.jobsize);
  for (gex_Rank_t jobrank = 0; jobrank < gex_proc_.jobsize; ++jobrank) {
    const AttachedSegment segment = segment_of(jobrank);
    entry(jobrank).owner_address = segment.owner_address;
    entry(jobrank).size = segment.size;
    entry(jobrank).kind = segment.kind;
    std::ranges::copy(segment.key, reinterpret_cast<std::byte*>(&entry(jobrank) + 1));
    has_key[jobrank] = !segment.key.empty();
  }
  write();
  // Others' handlers may use the entries: keys are there before the entries have them.
  for (gex_Rank_t jobrank = 0; jobrank < gex_proc_.jobsize; ++jobrank)
    entry(jobrank).has_key = has_key[jobrank] ? 1 : 0;
  if (std::ranges::any_of(has_key, std::identity())) write();
  // Release: who sees the count sees the entries.
  process().neighborhood.job_table_fills().fetch_add(1, std::memory_order_release);
  ring_neighbors();
}

std::uint32_t published_fills() noexcept {
  return process().neighborhood.job_table_fills().load(std::memory_order_acquire);
}

}  // namespace gex
