#include "shm/range_allocator.h"

#include "base/error.h"

namespace gex::shm {

std::optional<std::uint64_t> RangeAllocator::take(std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t start = 0;
  const auto fits_before = [&](std::uint64_t end) { return start <= end && bytes <= end - start; };
  for (const auto& [taken, end] : taken_) {
    if (fits_before(taken)) break;
    start = (end + alignment - 1) / alignment * alignment;
  }
  if (!fits_before(bytes_)) return std::nullopt;
  taken_.emplace(start, start + bytes);
  return start;
}

std::uint64_t RangeAllocator::give_back(std::uint64_t start) {
  const auto found = taken_.find(start);
  if (found == taken_.end()) fatal("a range is released that was not allocated");
  const std::uint64_t bytes = found->second - start;
  taken_.erase(found);
  return bytes;
}

}  // namespace gex::shm
