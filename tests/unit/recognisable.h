#pragma once
// Fills messages of tests so that what is lost, doubled or put in the wrong place shows: by copies
// of one long sequence, since unit tests are not optimised.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/random.h"

namespace gex::test {

/// A part of a pseudo-random sequence, which sender and number choose.
inline void fill_recognisably(void* memory, std::size_t bytes, std::uint32_t sender,
                              std::uint32_t number) {
  // A prime number, so that it does not begin again where a block does.
  constexpr std::size_t period = 131'071;
  static const auto words = [] {
    std::array<std::uint64_t, period / sizeof(std::uint64_t) + 1> all;
    SplitMix64 random(1);
    for (std::uint64_t& word : all) word = random();
    return all;
  }();
  const auto* const sequence = reinterpret_cast<const std::byte*>(words.data());
  auto* const to = static_cast<std::byte*>(memory);
  std::size_t from = (sender * std::size_t{40'009} + number * std::size_t{613}) % period;
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t part = std::min(bytes - at, period - from);
    std::memcpy(to + at, sequence + from, part);
    at += part;
    from = 0;
  }
}

}  // namespace gex::test
