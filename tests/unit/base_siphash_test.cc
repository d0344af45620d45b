#include "base/siphash.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace gex {
namespace {

constexpr SipKey key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

TEST(SipHash, GivesThePublishedVectors) {
  // From the paper's appendix, and of the table of its reference implementation: the keys are 00 to
  // 0f, the message is 00, 01, 02 and so on.
  const std::array<std::pair<std::size_t, std::uint64_t>, 6> vectors = {{
      {0, 0x726fdb47dd0e0e31},
      {1, 0x74f839c593dc67fd},
      {7, 0xab0200f58b01d137},
      {8, 0x93f5f5799a932462},
      {15, 0xa129ca6149be45e5},
      {63, 0x958a324ceb064572},
  }};
  for (const auto& [size, expected] : vectors)
    EXPECT_EQ(siphash(key, counting(size)), expected) << size;
}

TEST(SipHash, GivesThePublishedVectorsOf128Bits) {
  using Wide = std::array<std::uint64_t, 2>;
  EXPECT_EQ(siphash128(key, {}), (Wide{0xe6a825ba047f81a3, 0x930255c71472f66d}));
  EXPECT_EQ(siphash128(key, counting(1)), (Wide{0x44af996bd8c187da, 0x45fc229b11597634}));
}

}  // namespace
}  // namespace gex
