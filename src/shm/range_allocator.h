#pragma once
// Range allocator: which parts of a range of bytes are taken.
//
// For few and large parts: each is found by walking those that are taken. Used by one thread at a
// time.

#include <cstdint>
#include <map>
#include <optional>

namespace gex::shm {

class RangeAllocator {
 public:
  /// The range [0, bytes), of which nothing is taken.
  explicit RangeAllocator(std::uint64_t bytes = 0) noexcept : bytes_(bytes) {}

  /// Takes `bytes`, which is not 0, at the lowest multiple of `alignment` where there is room;
  /// empty if there is none.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);

  bool is_empty() const noexcept { return taken_.empty(); }

  /// Gives back what `take` returned; returns its size.
  std::uint64_t give_back(std::uint64_t start);

 private:
  std::uint64_t bytes_;
  std::map<std::uint64_t, std::uint64_t> taken_;  ///< end by start
};

}  // namespace gex::shm
