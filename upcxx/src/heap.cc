#include <upcxx/heap.hpp>

#include <cstdio>
#include <map>
#include <mutex>
#include <ostream>
#include <unordered_map>

#include "process.h"

namespace upcxx {
namespace {

/// First fit by address. What is free is noted beside the heap, so that what a client writes
/// outside its blocks does not break it.
class Heap {
 public:
  static Heap& get() {
    static Heap* const heap = new Heap;
    return *heap;
  }

  void* allocate(std::size_t size, std::size_t alignment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (size == 0) size = 1;
    if (alignment < 16) alignment = 16;
    // Blocks begin and end at multiples of 16.
    if (size > size_) return nullptr;
    size = (size + 15) / 16 * 16;
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      const std::uintptr_t first = at->first;
      const std::uintptr_t end = first + at->second;
      const std::uintptr_t begin = (first + alignment - 1) / alignment * alignment;
      if (begin > end || end - begin < size) continue;
      free_.erase(at);
      if (begin > first) free_.emplace(first, begin - first);
      if (end > begin + size) free_.emplace(begin + size, end - begin - size);
      used_blocks_.emplace(begin, size);
      used_ += size;
      return reinterpret_cast<void*>(begin);
    }
    return nullptr;
  }

  /// Returns true if it was a block.
  bool deallocate(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto block = used_blocks_.find(reinterpret_cast<std::uintptr_t>(memory));
    if (block == used_blocks_.end()) return false;
    std::uintptr_t begin = block->first;
    std::size_t size = block->second;
    used_ -= size;
    used_blocks_.erase(block);
    auto after = free_.lower_bound(begin);
    if (after != free_.end() && after->first == begin + size) {
      size += after->second;
      after = free_.erase(after);
    }
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == begin) {
        begin = before->first;
        size += before->second;
        free_.erase(before);
      }
    }
    free_.emplace(begin, size);
    return true;
  }

  std::size_t size() const { return size_; }
  std::size_t used() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
  }

 private:
  Heap() {
    const gex_Segment_t segment = gex_EP_QuerySegment(detail::process().endpoint);
    size_ = gex_Segment_QuerySize(segment);
    free_.emplace(reinterpret_cast<std::uintptr_t>(gex_Segment_QueryAddr(segment)), size_);
  }

  std::mutex mutex_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  std::map<std::uintptr_t, std::size_t> free_;
  std::unordered_map<std::uintptr_t, std::size_t> used_blocks_;
};

void require_job(const char* call) {
  if (!detail::process().has_joined) fatal_error("call upcxx::init() first", call);
}

}  // namespace

bad_shared_alloc::bad_shared_alloc(const char* call, std::size_t size) noexcept {
  std::snprintf(
      text_, sizeof text_,
      "rank %d: %s found no %zu bytes in the shared heap, of which %zu of %zu bytes are in "
      "use; upcxx-run -shared-heap or UPCXX_SHARED_HEAP_SIZE make it larger",
      detail::job.rank_me, call == nullptr ? "an allocation" : call, size,
      detail::process().has_joined ? Heap::get().used() : 0,
      detail::process().has_joined ? Heap::get().size() : 0);
}

void* allocate(std::size_t size, std::size_t alignment) {
  require_job("upcxx::allocate");
  return Heap::get().allocate(size, alignment);
}

void deallocate(void* memory) {
  if (memory == nullptr) return;
  require_job("upcxx::deallocate");
  if (!Heap::get().deallocate(memory)) {
    fatal_error("the memory is not from upcxx::allocate, or was freed before", "upcxx::deallocate");
  }
}

std::int64_t shared_segment_size() {
  return std::int64_t(Heap::get().size());
}
std::int64_t shared_segment_used() {
  return std::int64_t(Heap::get().used());
}

namespace detail {

PointerParts find_shared(const void* address) {
  PointerParts parts;
  if (address == nullptr) return parts;
  const auto here = reinterpret_cast<std::uintptr_t>(address);
  for (const Neighbor& neighbor : process().neighbors) {
    if (here - neighbor.here > neighbor.size) continue;
    parts.rank = neighbor.rank;
    parts.address = here - std::uintptr_t(job.displacements[neighbor.rank]);
    // One past the end of a heap may be the beginning of another.
    if (here - neighbor.here < neighbor.size) return parts;
  }
  return parts;
}

void print_pointer(std::ostream& stream, const PointerParts& parts) {
  char text[64];
  if (parts.address == 0) {
    stream << "(null)";
    return;
  }
  std::snprintf(text, sizeof text, "(rank %d, kind %d, %#zx)", parts.rank, int(parts.kind),
                std::size_t(parts.address));
  stream << text;
}

}  // namespace detail
}  // namespace upcxx
