// Memory that blocks are taken of.
#ifndef UPCXX_SRC_FIRST_FIT_H_
#define UPCXX_SRC_FIRST_FIT_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

namespace upcxx::detail {

/// First fit by address. What is free is noted beside the memory, which may be a device's, and what
/// a client writes outside its blocks does not break it.
class FirstFit {
 public:
  FirstFit(std::uintptr_t begin, std::size_t size) : size_(size) { free_.emplace(begin, size); }

  /// 0: there is no room.
  std::uintptr_t allocate(std::size_t size, std::size_t alignment) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (size == 0) size = 1;
    if (alignment < 16) alignment = 16;
    // Blocks begin and end at multiples of 16.
    if (size > size_) return 0;
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
      return begin;
    }
    return 0;
  }

  /// Returns true if it was a block.
  bool deallocate(std::uintptr_t begin) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto block = used_blocks_.find(begin);
    if (block == used_blocks_.end()) return false;
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
  std::mutex mutex_;
  std::size_t size_;
  std::size_t used_ = 0;
  std::map<std::uintptr_t, std::size_t> free_;
  std::unordered_map<std::uintptr_t, std::size_t> used_blocks_;
};

}  // namespace upcxx::detail

#endif
