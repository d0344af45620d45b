// The blocks of a team's exchange, and what they cost a rank that sends them.

#include "team/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "team/exchange_tree.h"

namespace gex::team {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t max_block = 64;

Bytes block_of(std::size_t place, std::size_t bytes) {
  return Bytes(bytes, static_cast<std::byte>(place + 1));
}

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST(Blocks, ComeInTheirOrderWhateverTheirSizes) {
  using Sizes = std::vector<std::size_t>;
  for (const Sizes& sizes : {Sizes{0}, Sizes{3, 3, 3}, Sizes{0, 0, 5, 0}, Sizes{5, 0, 5, 64},
                             Sizes(40, 0), Sizes(500, 8), Sizes(400, 0)}) {
    // Some of the blocks are appended one by one, and others as what another one has packed.
    for (std::size_t own = 0; own < sizes.size(); own += 1 + sizes.size() / 7) {
      Blocks all;
      Blocks others;
      for (std::size_t place = 0; place < sizes.size(); ++place)
        (place < own ? all : others).append(block_of(place, sizes[place]));
      ASSERT_TRUE(all.append_packed(others.pack(), sizes.size() - own, max_block));
      ASSERT_EQ(all.size(), sizes.size());
      std::size_t place = 0;
      for (const std::span<const std::byte> block : all) {
        EXPECT_TRUE(std::ranges::equal(block, block_of(place, sizes[place])));
        EXPECT_EQ(block.data(), all[place].data());
        ++place;
      }
      EXPECT_EQ(place, sizes.size());
    }
  }
}

TEST(Blocks, AreRefusedIfTheyAreNotThatManyOfThatSize) {
  const auto is_taken = [](const Bytes& packed, std::size_t count, std::size_t max = max_block) {
    Blocks blocks;
    return blocks.append_packed(packed, count, max);
  };
  for (const auto& [count, bytes] : {std::pair<std::size_t, std::size_t>{3, 8}, {500, 8}}) {
    Blocks blocks;
    for (std::size_t place = 0; place < count; ++place) blocks.append(block_of(place, bytes));
    const Bytes packed = blocks.pack();
    EXPECT_TRUE(is_taken(packed, count));
    EXPECT_FALSE(is_taken(packed, count + 1));
    EXPECT_FALSE(is_taken(packed, count - 1));
    EXPECT_FALSE(is_taken(packed, count, bytes - 1));
    // A table of no bytes is one of blocks that have none.
    const std::size_t of_no_bytes = count == 3 ? 0 : 1;
    for (std::size_t size = 0; size < packed.size(); ++size)
      EXPECT_EQ(is_taken(Bytes(packed.begin(), packed.begin() + size), count),
                size != 0 && size == of_no_bytes);
    Bytes longer = packed;
    longer.emplace_back();
    EXPECT_FALSE(is_taken(longer, count));
    longer = packed;
    longer.front() = std::byte{2};
    EXPECT_FALSE(is_taken(longer, count));
  }
}

/// The block of a member in gex_TM_Split.
struct Choice {
  std::int32_t member;
  std::int32_t color;
  std::int32_t key;
  std::uint32_t number;
  std::uint64_t scratch_size;
};

/// The bytes in which the choices of so many ranks are sent.
template <class ColorOf>
std::size_t bytes_of_split(std::uint32_t ranks, ColorOf color_of) {
  Blocks blocks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    blocks.append(bytes_of(Choice{1, static_cast<std::int32_t>(color_of(rank)),
                                  static_cast<std::int32_t>(rank), 4, 0}));
  const Bytes packed = blocks.pack();
  Blocks received;
  EXPECT_TRUE(received.append_packed(packed, ranks, max_block));
  return received.size() == ranks ? packed.size() : 0;
}

TEST(Blocks, OfAMillionRanksTakeTheirDifferences) {
  constexpr std::uint32_t ranks = 1 << 20;
  // Columns of a grid, with keys in rank order: the lowest byte of the key, and of the color;
  // others come in runs.
  EXPECT_LE(bytes_of_split(ranks, [](std::uint32_t rank) { return rank % 1024; }), 2.1 * ranks);
  // Any colors: these and a byte of the key.
  Random random(1);
  EXPECT_LE(bytes_of_split(ranks, [&](std::uint32_t) { return random(); }), 5.1 * ranks);

  // All members of a team have the number of a slot and the client's name in common.
  Blocks equal;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    equal.append(bytes_of(std::uint64_t{0x1234567800000000}));
  EXPECT_LE(equal.pack().size(), 32U);
  // The root sends the whole to each of its children, other members to fewer.
  EXPECT_LE(equal.pack().size() * ExchangeTree(ranks).children(0), 2048U);
}

}  // namespace
}  // namespace gex::team
