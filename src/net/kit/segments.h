#pragma once
// Memory of this process that peers may put to and get from.
//
// A key names an entry and how often that entry was used before, so a key that is no longer valid
// is found to be so.
//
// Thread rules: any where the network is `threaded`.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/spin_lock.h"

namespace gex::net {

struct SegmentKey {
  std::uint32_t segment;
  std::uint32_t unused;
  std::uint64_t unused_too;
};
static_assert(sizeof(SegmentKey) == 16);

class Segments {
 public:
  explicit Segments(bool threaded) : threaded_(threaded) {}

  /// False: there are too many.
  bool add(void* address, std::size_t size, SegmentKey& key) {
    const OptionalGuard guard(mutex_, threaded_);
    std::size_t index = 0;
    while (index < entries_.size() && entries_[index].size != 0) ++index;
    if (index == max_segments) return false;
    if (index == entries_.size()) entries_.emplace_back();
    Entry& entry = entries_[index];
    entry.begin = reinterpret_cast<std::uint64_t>(address);
    entry.size = size;
    key = {static_cast<std::uint32_t>(index) | entry.uses << index_bits, 0, 0};
    return true;
  }
  /// The memory of a removed segment, in bytes; empty for an invalid key.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };
  Range remove(const SegmentKey& key) {
    const OptionalGuard guard(mutex_, threaded_);
    Entry* entry = find(key.segment);
    if (entry == nullptr) return {};
    const Range range{entry->begin, entry->size};
    entry->size = 0;
    ++entry->uses;
    return range;
  }
  /// Where that memory is, or null: it does not all lie in the segment of this number.
  std::byte* at(std::uint32_t segment, std::uint64_t address, std::uint64_t size) {
    const OptionalGuard guard(mutex_, threaded_);
    const Entry* entry = find(segment);
    if (entry == nullptr || address < entry->begin || size > entry->size ||
        address - entry->begin > entry->size - size)
      return nullptr;
    return reinterpret_cast<std::byte*>(address);
  }

 private:
  static constexpr unsigned index_bits = 16;
  static constexpr std::size_t max_segments = std::size_t{1} << index_bits;

  struct Entry {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;  ///< 0: free
    std::uint32_t uses = 0;
  };
  Entry* find(std::uint32_t segment) noexcept {
    const std::size_t index = segment & (max_segments - 1);
    if (index >= entries_.size()) return nullptr;
    Entry& entry = entries_[index];
    const bool is_valid =
        entry.size != 0 && entry.uses << index_bits == (segment & ~(max_segments - 1));
    return is_valid ? &entry : nullptr;
  }

  bool threaded_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace gex::net
