#include "core/published.h"

#include <atomic>
#include <mutex>

#include "core/process.h"
#include "shm/message.h"

namespace gex {

namespace {

/// By endpoint address: the entries of all processes, once there is one, for good.
constinit std::atomic<PublishedSegment*> tables[endpoint_addresses] = {};
constinit std::mutex making_tables;

PublishedSegment* table_for_writing(unsigned endpoint_address) {
  const std::lock_guard lock(making_tables);
  std::atomic<PublishedSegment*>& table = tables[endpoint_address];
  if (table.load(std::memory_order_relaxed) == nullptr)
    // Release: whoever finds the table finds empty entries.
    table.store(new PublishedSegment[gex_proc_.jobsize], std::memory_order_release);
  return table.load(std::memory_order_relaxed);
}

}  // namespace

const PublishedSegment& published_segment(unsigned endpoint_address, gex_Rank_t jobrank) noexcept {
  static constinit const PublishedSegment none;
  // A TM-pair is a value, and may name what there is not.
  if (endpoint_address >= endpoint_addresses) return none;
  const PublishedSegment* table = tables[endpoint_address].load(std::memory_order_acquire);
  return table != nullptr && jobrank < gex_proc_.jobsize ? table[jobrank] : none;
}

void publish_segment(unsigned endpoint_address, gex_Rank_t jobrank,
                     const PublishedSegment& segment) noexcept {
  table_for_writing(endpoint_address)[jobrank] = segment;
}

void publish_key(unsigned endpoint_address, gex_Rank_t jobrank,
                 const net::SegmentKey& key) noexcept {
  PublishedSegment& segment = table_for_writing(endpoint_address)[jobrank];
  segment.key = key;
  segment.has_key = true;
}

}  // namespace gex
