// The stride optimizer against the naive loop: whatever it does to the loops, the same bytes of one
// end belong to the same bytes of the other.

#include "vis/shape.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "vis_shapes.h"

namespace gex::vis {
namespace {

/// Where each byte of the peer's end has its counterpart.
using Pairs = std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;

Pairs naive_pairs(const Strided& strided) {
  Pairs pairs;
  naive_loop(strided, [&](std::ptrdiff_t remote, std::ptrdiff_t local) {
    for (std::size_t byte = 0; byte < strided.element; ++byte)
      pairs.emplace_back(remote + static_cast<std::ptrdiff_t>(byte),
                         local + static_cast<std::ptrdiff_t>(byte));
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Pairs pairs_of(const Shape& shape) {
  Pairs pairs;
  for (std::size_t i = 0; shape.element != 0 && i < shape.elements; ++i)
    for (std::size_t byte = 0; byte < shape.element; ++byte) {
      const auto b = static_cast<std::ptrdiff_t>(byte);
      pairs.emplace_back(shape.offset[remote_end] + shape.place(remote_end, i) + b,
                         shape.offset[local_end] + shape.place(local_end, i) + b);
    }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

bool make(Shape& shape, const Strided& strided, End lead = remote_end) {
  return make_shape(shape, strided.element, strided.count.data(), strided.remote.data(),
                    strided.local.data(), strided.count.size(), lead);
}

Shape made(const Strided& strided, End lead = remote_end) {
  Shape shape;
  EXPECT_TRUE(make(shape, strided, lead));
  return shape;
}

TEST(Shape, LeavesOutDimensionsOfOneTurn) {
  const Shape shape = made({8, {1, 5, 1, 1}, {999, 32, 7, -3}, {1, 16, -9, 0}});
  ASSERT_EQ(shape.dims, 1U);
  EXPECT_EQ(shape.dim[0].count, 5U);
  EXPECT_EQ(shape.dim[0].stride[remote_end], 32);
  EXPECT_EQ(shape.dim[0].stride[local_end], 16);
}

TEST(Shape, FoldsAContiguousBlockIntoTheElement) {
  const Shape shape = made({8, {4, 3, 2}, {8, 32, 96}, {8, 32, 96}});
  EXPECT_EQ(shape.dims, 0U);
  EXPECT_EQ(shape.element, 8U * 4 * 3 * 2);
  EXPECT_EQ(shape.elements, 1U);
}

TEST(Shape, FoldsThirtyTwoDimensionsToOneInWhateverOrder) {
  for (const bool reversed : {false, true}) {
    // Two turns in each of 20 dimensions, one in the others.
    Strided strided{8, {}, {}, {}};
    std::ptrdiff_t stride = 32;
    for (unsigned i = 0; i < 32; ++i) {
      strided.count.push_back(i % 8 < 5 ? 2 : 1);
      strided.remote.push_back(stride);
      strided.local.push_back(stride * 2);
      stride *= i % 8 < 5 ? 2 : 1;
    }
    if (reversed) {
      std::reverse(strided.count.begin(), strided.count.end());
      std::reverse(strided.remote.begin(), strided.remote.end());
      std::reverse(strided.local.begin(), strided.local.end());
    }
    const Shape shape = made(strided);
    ASSERT_EQ(shape.dims, 1U);
    EXPECT_EQ(shape.dim[0].count, std::size_t{1} << 20);
    EXPECT_EQ(shape.dim[0].stride[remote_end], 32);
    EXPECT_EQ(shape.dim[0].stride[local_end], 64);
  }
}

TEST(Shape, FoldsAReflectionOfBothEndsIntoACopy) {
  const Shape shape = made({4, {6, 5}, {-4, -24}, {-4, -24}});
  EXPECT_EQ(shape.dims, 0U);
  EXPECT_EQ(shape.element, 120U);
  EXPECT_EQ(shape.offset[remote_end], -4 * 29);
  EXPECT_EQ(shape.offset[local_end], -4 * 29);
}

TEST(Shape, TurnsTheLeadUpwardsAndSortsIt) {
  // A transpose of 3 x 5, one axis reflected.
  const Strided strided{8, {3, 5}, {40, -8}, {8, 24}};
  for (const End lead : {remote_end, local_end}) {
    const Shape shape = made(strided, lead);
    ASSERT_EQ(shape.dims, 2U);
    EXPECT_EQ(shape.dim[0].stride[lead], 8);
    EXPECT_GT(shape.dim[1].stride[lead], shape.dim[0].stride[lead]);
    EXPECT_EQ(pairs_of(shape), naive_pairs(strided));
  }
}

TEST(Shape, KeepsASourceThatIsReadSeveralTimes) {
  const Strided strided{4, {6, 3}, {0, 4}, {4, 24}};
  EXPECT_EQ(pairs_of(made(strided)), naive_pairs(strided));
  EXPECT_EQ(pairs_of(made(strided, local_end)), naive_pairs(strided));
}

TEST(Shape, IsEmptyWithoutBytes) {
  const std::size_t huge = ~std::size_t{0};
  EXPECT_EQ(made({0, {3}, {8}, {8}}).bytes(), 0U);
  EXPECT_EQ(made({8, {huge, huge, 0}, {1, 1, 1}, {1, 1, 1}}).bytes(), 0U);
  EXPECT_EQ(made({0, {huge, huge}, {1, 1}, {1, 1}}).bytes(), 0U);
}

TEST(Shape, OfOneElementWithoutDimensions) {
  const Shape shape = made({24, {}, {}, {}});
  EXPECT_EQ(shape.bytes(), 24U);
  EXPECT_EQ(shape.dims, 0U);
}

TEST(Shape, RefusesMoreBytesThanCanBeCounted) {
  Shape shape;
  EXPECT_FALSE(make(shape, {8, {std::size_t{1} << 40, std::size_t{1} << 40}, {1, 1}, {1, 1}}));
  const std::vector<std::size_t> many(100, 2);
  const std::vector<std::ptrdiff_t> strides(100, 5);
  EXPECT_FALSE(make(shape, {1, many, strides, strides}));
}

TEST(Extent, ReachesFromTheLowestToTheHighestByte) {
  const Shape shape = made({8, {3, 4}, {16, 64}, {-100, 1000}});
  Extent extent{};
  ASSERT_TRUE(extent_of(shape, local_end, extent));
  EXPECT_EQ(extent.start, -200);
  EXPECT_EQ(extent.bytes, 200U + 3000 + 8);
}

TEST(Extent, RefusesWhatReachesBeyondTheAddressSpace) {
  const std::ptrdiff_t far = std::ptrdiff_t{1} << 62;
  Extent extent{};
  EXPECT_FALSE(extent_of(made({8, {5}, {8}, {far}}), local_end, extent));
  EXPECT_FALSE(extent_of(made({8, {2, 2}, {far, far + 1}, {1, 50}}), remote_end, extent));
}

/// Seeds of the fuzz cases; a failure names its seed.
constexpr std::uint64_t cases = 4000;

TEST(Shape, MovesWhatTheNaiveLoopMoves) {
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Random random(seed);
    const Strided strided = random_strided(random, 8, 400);
    const Pairs expected = naive_pairs(strided);
    for (const End lead : {remote_end, local_end}) {
      const Shape shape = made(strided, lead);
      ASSERT_EQ(pairs_of(shape), expected) << "seed " << seed;
      for (unsigned i = 0; i < shape.dims; ++i) {
        ASSERT_GE(shape.dim[i].count, 2U) << "seed " << seed;
        ASSERT_GE(shape.dim[i].stride[lead], i == 0 ? 0 : shape.dim[i - 1].stride[lead])
            << "seed " << seed;
      }
    }
  }
}

TEST(Shape, MovesWhatTheNaiveLoopMovesWithAnyStrides) {
  // Overlapping, zero, wrapping: the optimizer only rearranges.
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Random random(seed, 1);
    Strided strided = random_strided(random, 6, 60);
    for (std::vector<std::ptrdiff_t>* strides : {&strided.remote, &strided.local})
      for (std::ptrdiff_t& stride : *strides)
        if (random.below(2) == 0) stride = static_cast<std::ptrdiff_t>(random.below(33)) - 16;
    const Pairs expected = naive_pairs(strided);
    ASSERT_EQ(pairs_of(made(strided, remote_end)), expected) << "seed " << seed;
    ASSERT_EQ(pairs_of(made(strided, local_end)), expected) << "seed " << seed;
  }
}

TEST(Shape, MovesWhatTheNaiveLoopMovesInThirtyTwoDimensions) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 2);
    Strided strided = random_strided(random, 0, 1);
    strided.count.resize(32);
    for (unsigned i = 0; i < 32; ++i) strided.count[i] = random.below(4) == 0 ? 2 : 1;
    for (unsigned i = 11; i < 32; ++i)
      if (std::count(strided.count.begin(), strided.count.begin() + i, 2U) > 10)
        strided.count[i] = 1;
    strided.remote = random_strides(random, strided.element, strided.count, seed % 2 == 0);
    strided.local = random_strides(random, strided.element, strided.count, seed % 3 == 0);
    ASSERT_EQ(pairs_of(made(strided)), naive_pairs(strided)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gex::vis
