#pragma once
// Packers: copies of many equal elements, specialised by their size.

#include <cstddef>
#include <cstring>

#include "vis/shape.h"

namespace gex::vis {

/// Copies a block of as many bytes.
template <std::size_t bytes>
struct BlockOf {
  static void copy(std::byte* to, const std::byte* from) noexcept { std::memcpy(to, from, bytes); }
};

/// Copies a block of more than `half` and at most twice as many bytes, as two halves that overlap.
template <std::size_t half>
struct BlockOfHalves {
  std::size_t bytes;
  void copy(std::byte* to, const std::byte* from) const noexcept {
    std::memcpy(to, from, half);
    std::memcpy(to + bytes - half, from + bytes - half, half);
  }
};

struct LongBlock {
  std::size_t bytes;
  void copy(std::byte* to, const std::byte* from) const noexcept { std::memcpy(to, from, bytes); }
};

/// Calls `f(block)`, whose `block.copy(to, from)` copies `bytes`, by a few loads and stores if they
/// are few. To be called outside the loop that copies.
template <class F>
[[gnu::always_inline]] inline void with_block(std::size_t bytes, F f) noexcept {
  switch (bytes) {
    case 1:
      return f(BlockOf<1>{});
    case 2:
      return f(BlockOf<2>{});
    case 4:
      return f(BlockOf<4>{});
    case 8:
      return f(BlockOf<8>{});
    case 16:
      return f(BlockOf<16>{});
    case 32:
      return f(BlockOf<32>{});
    case 64:
      return f(BlockOf<64>{});
    default:
      break;
  }
  if (bytes > 64 || bytes == 0) return f(LongBlock{bytes});
  if (bytes > 32) return f(BlockOfHalves<32>{bytes});
  if (bytes > 16) return f(BlockOfHalves<16>{bytes});
  if (bytes > 8) return f(BlockOfHalves<8>{bytes});
  if (bytes > 4) return f(BlockOfHalves<4>{bytes});
  f(BlockOfHalves<2>{bytes});
}

/// One loop of a copy.
struct Loop {
  std::size_t count;
  std::ptrdiff_t to;
  std::ptrdiff_t from;
};

/// Copies `loop.count` elements. Elements of the two ends do not overlap.
void copy_row(std::byte* to, const std::byte* from, std::size_t element, const Loop& loop) noexcept;

/// Copies a whole shape between two places of this process; `to` and `from` are the first elements.
/// The order of the loops is the shape's, whose lead should be the end written to; a transpose is
/// done in tiles, so that both ends use whole cache lines.
void copy_strided(const Shape& shape, End to_end, std::byte* to, const std::byte* from) noexcept;

}  // namespace gex::vis
