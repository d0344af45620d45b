#pragma once
// Byte patterns that show which rank wrote what where, so that what is lost, doubled, mixed up or
// put in the wrong place shows. They are made and looked at eight bytes at a time: most of what a
// sanitizer watches in this suite is this.

#include <cstddef>
#include <cstdint>

namespace conformance {

/// Bytes 8 * `index` to 8 * `index` + 7 of the pattern `seed`, the lowest first.
inline std::uint64_t pattern_word(std::uint64_t seed, std::size_t index) {
  std::uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15U + index * 0xD1B54A32D192ED03U;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9U;
  return x ^ (x >> 32);
}

/// Byte `position` of the pattern `seed`. Patterns of different seeds differ almost everywhere, and
/// no pattern repeats with a period that a block or part size could hide.
inline std::byte pattern(std::uint64_t seed, std::size_t position) {
  return static_cast<std::byte>(pattern_word(seed, position / 8) >> (8 * (position % 8)));
}

void fill(void* to, std::uint64_t seed, std::size_t bytes);

/// Position of the first byte that differs from the pattern `seed`, or `bytes`.
std::size_t first_difference(const void* memory, std::uint64_t seed, std::size_t bytes);

}  // namespace conformance
