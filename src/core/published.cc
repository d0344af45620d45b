#include "core/published.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <span>
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

/// A segment as this process keeps it, and the network's key behind it.
struct KeptSegment {
  PublishedSegment segment;
  std::uint32_t has_key = 0;
  std::uint32_t is_kept = 0;  ///< otherwise there is nothing, or what the neighborhood has
};
static_assert(sizeof(KeptSegment) % 8 == 0, "a key lies behind it");

/// By endpoint address: the entries of all processes, with their keys, once there is one, for good.
constinit std::atomic<std::byte*> tables[endpoint_addresses] = {};
/// Bytes of an entry. Written before there is a table.
constinit std::size_t entry_bytes = 0;
constinit std::mutex making_tables;
/// Shared: mappings stay.
constinit std::shared_mutex mapping_segments;

/// Keys are aligned to 8 bytes.
std::uint32_t bytes_of_key() noexcept {
  return static_cast<std::uint32_t>(round_up(process().network.key_bytes, 8));
}

KeptSegment& entry_of(std::byte* table, gex_Rank_t jobrank) noexcept {
  return *reinterpret_cast<KeptSegment*>(table + jobrank * entry_bytes);
}

/// Segments that all ranks have attached, as a neighborhood keeps them. They hold for those of
/// which a process has no entry of its own.
class Attached {
 public:
  Attached()
      : columns_(gex_proc_.jobsize, widths()),
        table_(process().neighborhood.job_tables()->map_segments()) {
    if (!table_) fatal_system("cannot map the table of attached segments", errno);
  }

  static std::size_t width() noexcept {
    const auto all = widths();
    return std::accumulate(all.begin(), all.end(), std::size_t{0});
  }

  PublishedSegment of(gex_Rank_t jobrank) const noexcept {
    PublishedSegment segment;
    segment.owner_address = value<std::uintptr_t>(owner_address, jobrank);
    segment.size = value<std::uintptr_t>(size, jobrank);
    segment.memory_class =
        static_cast<net::MemoryClass>(value<std::uint32_t>(memory_class, jobrank));
    if (value<std::uint32_t>(has_key, jobrank) != 0)
      segment.key = columns_.at(table_.data(), key, jobrank);
    return segment;
  }

  /// By the leader, of all ranks.
  void fill(std::span<const AttachedSegment> segments) const {
    write<std::uintptr_t>(owner_address, segments,
                          [](const AttachedSegment& one) { return one.owner_address; });
    write<std::uintptr_t>(size, segments, [](const AttachedSegment& one) { return one.size; });
    write<std::uint32_t>(memory_class, segments,
                         [](const AttachedSegment& one) { return one.memory_class; });
    std::vector<std::byte> keys(segments.size() * bytes_of_key());
    for (std::size_t rank = 0; rank < segments.size(); ++rank)
      std::ranges::copy(segments[rank].key, keys.data() + rank * bytes_of_key());
    write(key, keys);
    // Others' handlers may use the segments: keys are there before the segments have them.
    write<std::uint32_t>(has_key, segments,
                         [](const AttachedSegment& one) { return one.key.empty() ? 0 : 1; });
  }

 private:
  enum Column : unsigned { owner_address, size, key, memory_class, has_key, count };
  static std::array<std::uint32_t, count> widths() noexcept {
    return {sizeof(std::uintptr_t), sizeof(std::uintptr_t), bytes_of_key(), sizeof(std::uint32_t),
            sizeof(std::uint32_t)};
  }

  template <class Value>
  Value value(Column column, gex_Rank_t jobrank) const noexcept {
    // Acquire: a key is there before the segment has it.
    return __atomic_load_n(
        reinterpret_cast<const Value*>(columns_.at(table_.data(), column, jobrank)),
        __ATOMIC_ACQUIRE);
  }
  template <class Value, class Of>
  void write(Column column, std::span<const AttachedSegment> segments, Of of) const {
    std::vector<Value> values;
    values.reserve(segments.size());
    for (const AttachedSegment& segment : segments) values.push_back(of(segment));
    write(column, std::as_bytes(std::span(values)));
  }
  void write(Column column, std::span<const std::byte> values) const {
    const shm::JobTables& tables = *process().neighborhood.job_tables();
    const int error = tables.write_segments(columns_, column, values);
    if (error != 0) fatal_system("cannot write the table of attached segments", error);
  }

  shm::RankColumns columns_;
  os::Mapping table_;
};

/// Made with the first table, for good; null: all entries are this process's.
constinit const Attached* attached = nullptr;

const Attached* attached_at(unsigned address) noexcept {
  return address == endpoint_address(0, 0) ? attached : nullptr;
}

/// Zero bytes are entries, and take memory once they are touched.
std::byte* make_table(unsigned endpoint_address) {
  entry_bytes = sizeof(KeptSegment) + bytes_of_key();
  if (is_published_once(endpoint_address)) attached = new Attached();
  os::Mapping mapping = os::Mapping::anonymous(entry_bytes * gex_proc_.jobsize);
  if (!mapping) fatal_system("cannot map a table of segments", errno);
  return mapping.release().data();
}

KeptSegment& entry_at(unsigned endpoint_address, gex_Rank_t jobrank) {
  const std::lock_guard lock(making_tables);
  std::atomic<std::byte*>& table = tables[endpoint_address];
  // Release: a thread that finds the table finds empty entries.
  if (table.load(std::memory_order_relaxed) == nullptr)
    table.store(make_table(endpoint_address), std::memory_order_release);
  return entry_of(table.load(std::memory_order_relaxed), jobrank);
}

/// Requires that nothing uses the entry meanwhile.
void keep(KeptSegment& entry, const PublishedSegment& segment) noexcept {
  entry.segment = segment;
  entry.has_key = 0;
  entry.is_kept = 1;
}

}  // namespace

PublishedSegment published_segment(unsigned endpoint_address, gex_Rank_t jobrank) noexcept {
  // A TM-pair is a value, and may name an endpoint that does not exist.
  if (endpoint_address >= endpoint_addresses || jobrank >= gex_proc_.jobsize) return {};
  std::byte* const table = tables[endpoint_address].load(std::memory_order_acquire);
  if (table == nullptr) return {};
  const KeptSegment& entry = entry_of(table, jobrank);
  if (entry.is_kept == 0) {
    const Attached* const shared = attached_at(endpoint_address);
    return shared != nullptr ? shared->of(jobrank) : PublishedSegment();
  }
  PublishedSegment segment = entry.segment;
  // Acquire: the key was written before.
  if (__atomic_load_n(&entry.has_key, __ATOMIC_ACQUIRE) != 0) segment.key = &entry + 1;
  return segment;
}

void publish_own_segment(unsigned endpoint_address, const PublishedSegment& segment) noexcept {
  keep(entry_at(endpoint_address, gex_proc_.jobrank), segment);
}

void publish_segment(unsigned endpoint_address, gex_Rank_t jobrank, std::uintptr_t owner_address,
                     std::uintptr_t size, std::uint64_t offset,
                     net::MemoryClass memory_class) noexcept {
  PublishedSegment segment;
  segment.memory_class = memory_class;
  segment.owner_address = owner_address;
  segment.size = size;
  if (jobrank == gex_proc_.jobrank) {
    auto* const own = reinterpret_cast<std::byte*>(owner_address);
    if (memory_class == net::host_memory) {
      segment.mapped = own;
    } else if (size != 0) {
      segment.reached = own;
      segment.reached_by = kind_at(own);
    }
    publish_own_segment(endpoint_address, segment);
    return;
  }
  KeptSegment& entry = entry_at(endpoint_address, jobrank);
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
  // What the neighborhood has already takes no entry of the process's.
  if (segment.mapped == nullptr && published_segment(endpoint_address, jobrank) == segment) return;
  const PublishedSegment& before = entry.segment;
  // Only now, so that a segment which has not changed keeps its mapping.
  if (before.mapped != nullptr) {
    unpin_memory(before.mapped);
    neighborhood.unmap_segment(before.mapped);
  }
  if (before.reached != nullptr)
    class_info(before.reached_by->memory_class).sharing->close({before.reached, before.reached_by});
  keep(entry, segment);
}

void publish_reached(unsigned endpoint_address, gex_Rank_t jobrank,
                     const OpenedMemory& opened) noexcept {
  KeptSegment& entry = entry_at(endpoint_address, jobrank);
  const std::unique_lock lock(mapping_segments);
  if (entry.is_kept == 0) keep(entry, published_segment(endpoint_address, jobrank));
  entry.segment.reached = opened.reached;
  entry.segment.reached_by = opened.by;
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
  KeptSegment& entry = entry_at(endpoint_address, jobrank);
  const PublishedSegment before = published_segment(endpoint_address, jobrank);
  if (before.key != nullptr && std::memcmp(before.key, key.data(), key.size()) == 0) return;
  if (entry.is_kept == 0) {
    PublishedSegment without_key = before;
    without_key.key = nullptr;
    keep(entry, without_key);
  }
  std::memcpy(&entry + 1, key.data(), key.size());
  // Release: the key is there before.
  __atomic_store_n(&entry.has_key, 1, __ATOMIC_RELEASE);
}

bool is_published_once(unsigned address) noexcept {
  return address == endpoint_address(0, 0) && process().neighborhood.job_tables() != nullptr &&
         Attached::width() <= shm::RankColumns::max_width;
}

void fill_published(const std::function<AttachedSegment(gex_Rank_t jobrank)>& segment_of) {
  std::vector<AttachedSegment> segments;
  segments.reserve(gex_proc_.jobsize);
  for (gex_Rank_t jobrank = 0; jobrank < gex_proc_.jobsize; ++jobrank)
    segments.push_back(segment_of(jobrank));
  entry_at(endpoint_address(0, 0), gex_proc_.jobrank);
  attached->fill(segments);
  // Release: who sees the count sees the entries.
  process().neighborhood.job_table_fills().fetch_add(1, std::memory_order_release);
  ring_neighbors();
}

std::uint32_t published_fills() noexcept {
  return process().neighborhood.job_table_fills().load(std::memory_order_acquire);
}

}  // namespace gex
