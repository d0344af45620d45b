#pragma once
// Regions of transfers, strided and listed, in memory of known bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "vis/region.h"
#include "vis_shapes.h"

namespace gex::vis {

inline constexpr std::size_t memory_bytes = std::size_t{1} << 20;
/// Strides may be negative, so everything starts in the middle.
inline constexpr std::size_t middle = memory_bytes / 2;

inline std::vector<std::byte> noise(std::uint64_t seed, std::size_t bytes = memory_bytes) {
  Random random(seed, 7);
  std::vector<std::byte> memory(bytes);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  return memory;
}

inline bool fits(const Shape& shape) {
  for (const End end : {remote_end, local_end}) {
    Extent extent{};
    if (!extent_of(shape, end, extent)) return false;
    const std::ptrdiff_t start = shape.offset[end] + extent.start;
    if (start < -static_cast<std::ptrdiff_t>(middle) ||
        start + static_cast<std::ptrdiff_t>(extent.bytes) > static_cast<std::ptrdiff_t>(middle))
      return false;
  }
  return true;
}

inline Shape made(const Strided& strided, End lead) {
  Shape shape;
  EXPECT_TRUE(make_shape(shape, strided.element, strided.count.data(), strided.remote.data(),
                         strided.local.data(), strided.count.size(), lead));
  return shape;
}

/// The peer's memory after a put.
inline std::vector<std::byte> naive_put(const Strided& strided, std::vector<std::byte> remote,
                                        const std::vector<std::byte>& local) {
  naive_loop(strided, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    std::memcpy(remote.data() + middle + to, local.data() + middle + from, strided.element);
  });
  return remote;
}

/// A list of blocks in disjoint places, cut at random, of `bytes` in all.
inline std::vector<gex_Memvec_t> random_blocks(Random& random, std::byte* memory,
                                               std::size_t bytes) {
  std::vector<gex_Memvec_t> blocks;
  std::size_t at = 0;
  while (bytes != 0) {
    if (random.below(3) != 0) at += random.below(40);
    const std::size_t length =
        std::min<std::size_t>(bytes, random.below(8) == 0 ? random.below(900) : random.below(20));
    blocks.push_back({memory + at, length});
    at += length;
    bytes -= length;
  }
  for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.below(i)]);
  return blocks;
}

inline std::vector<std::byte> bytes_of(const BlockList& list) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < list.count(); ++i)
    bytes.insert(bytes.end(), list.address(i), list.address(i) + list.length(i));
  return bytes;
}

}  // namespace gex::vis
