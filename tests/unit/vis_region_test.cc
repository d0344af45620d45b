// Packing against the naive loop: copies within a process, and regions cut into parts that are
// described, sent as bytes, and gathered or scattered by those who read the descriptions.

#include "vis/region_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "vis/description.h"
#include "vis/packers.h"
#include "vis_regions.h"

namespace gex::vis {
namespace {

TEST(Packers, CopyWhatTheNaiveLoopCopies) {
  const std::vector<std::byte> local = noise(1);
  const std::vector<std::byte> before = noise(2);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Strided strided = random_strided(random, 6, 2000);
    const Shape shape = made(strided, remote_end);
    if (!fits(shape)) continue;
    std::vector<std::byte> remote = before;
    copy_strided(shape, remote_end, remote.data() + middle + shape.offset[remote_end],
                 local.data() + middle + shape.offset[local_end]);
    ASSERT_EQ(remote, naive_put(strided, before, local)) << "seed " << seed;
  }
}

TEST(Packers, CopyElementsOfAnySizeAndNothingBeside) {
  constexpr std::size_t count = 3;
  constexpr std::ptrdiff_t to_stride = 150;
  constexpr std::ptrdiff_t from_stride = 131;
  const std::vector<std::byte> from = noise(7, 1000);
  const std::vector<std::byte> before = noise(8, 1000);
  for (std::size_t element = 1; element <= from_stride; ++element) {
    std::vector<std::byte> to = before;
    std::vector<std::byte> expected = before;
    copy_row(to.data(), from.data(), element, {count, to_stride, from_stride});
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(expected.data() + i * to_stride, from.data() + i * from_stride, element);
    ASSERT_EQ(to, expected) << "elements of " << element << " bytes";
  }
}

TEST(Packers, TransposeInTiles) {
  const std::vector<std::byte> local = noise(3);
  const std::vector<std::byte> before = noise(4);
  for (const std::size_t element : {1, 4, 8, 16, 24, 64}) {
    constexpr std::ptrdiff_t rows = 75;
    constexpr std::ptrdiff_t columns = 67;
    const auto step = static_cast<std::ptrdiff_t>(element);
    const std::ptrdiff_t row = step * columns;
    const std::ptrdiff_t column = step * rows;
    const Strided plain{element, {columns, rows}, {column, step}, {step, row}};
    const Strided reflected{element, {columns, rows}, {column, step}, {-step, row}};
    const Strided cubic{
        element, {columns / 2, 2, rows}, {column, column * 40, step}, {step, row * rows, row}};
    for (const Strided& strided : {plain, reflected, cubic}) {
      const Shape shape = made(strided, remote_end);
      if (!fits(shape)) continue;
      std::vector<std::byte> remote = before;
      copy_strided(shape, remote_end, remote.data() + middle + shape.offset[remote_end],
                   local.data() + middle + shape.offset[local_end]);
      ASSERT_EQ(remote, naive_put(strided, before, local)) << "element " << element;
    }
  }
}

/// Sends the region at the peer in parts of the given room; `move(part, bytes, offset)` for each.
template <class Region, class Move>
void in_parts(const Region& region, std::size_t bytes, const Room& room, Move move) {
  Cursor cursor;
  std::vector<std::uint64_t> message(room.both / 8 + 8);
  std::size_t offset = 0;
  while (offset < bytes) {
    auto* out = reinterpret_cast<std::byte*>(message.data());
    const Part part = describe(region, cursor, bytes - offset, room, out);
    ASSERT_GT(part.data_bytes, 0U);
    ASSERT_LE(part.description_bytes, room.description);
    ASSERT_LE(part.data_bytes, room.data);
    ASSERT_LE(part.description_bytes + part.data_bytes, room.both);
    Described described;
    std::size_t description_bytes = 0;
    ASSERT_TRUE(described.read(static_cast<std::uint32_t>(part.layout), part.entries, out,
                               part.description_bytes, description_bytes));
    ASSERT_EQ(description_bytes, part.description_bytes);
    move(described, part.data_bytes, offset);
    offset += part.data_bytes;
  }
  ASSERT_EQ(offset, bytes);
}

Room random_room(Random& random) {
  const std::size_t description = 512 + random.below(600);
  return {description, 512 + random.below(5000), description + random.below(5000)};
}

TEST(StridedRegion, IsTheSameInPartsAsInOne) {
  const std::vector<std::byte> before = noise(5);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 3);
    const Strided strided = random_strided(random, 6, 2000);
    const Shape shape = made(strided, remote_end);
    if (!fits(shape)) continue;
    std::vector<std::byte> remote = before;
    const auto within = [&](const std::byte* start, std::size_t bytes) {
      return start >= remote.data() && start + bytes <= remote.data() + remote.size();
    };
    const StridedRegion region{&shape, remote_end,
                               remote.data() + middle + shape.offset[remote_end]};
    std::vector<std::byte> whole(shape.bytes());
    Cursor cursor;
    gather(region, cursor, whole.size(), whole.data());
    EXPECT_EQ(cursor.block, shape.elements);

    const std::vector<std::byte> data = noise(seed, whole.size());
    in_parts(region, whole.size(), random_room(random),
             [&](const Described& part, std::size_t bytes, std::size_t offset) {
               ASSERT_TRUE(part.lies_within(bytes, within)) << "seed " << seed;
               std::vector<std::byte> got(bytes);
               part.gather(bytes, got.data());
               ASSERT_EQ(std::memcmp(got.data(), whole.data() + offset, bytes), 0)
                   << "seed " << seed;
               part.scatter(bytes, data.data() + offset);
             });
    std::vector<std::byte> expected = before;
    Cursor start;
    scatter(StridedRegion{&shape, remote_end, expected.data() + middle + shape.offset[remote_end]},
            start, data.size(), data.data());
    ASSERT_EQ(remote, expected) << "seed " << seed;
  }
}

TEST(StridedRegion, OfMoreDimensionsThanADescriptionTakesIsCutWhereOneEnds) {
  // 18 dimensions that do not fold: more than one description takes.
  Strided strided{2, std::vector<std::size_t>(18, 2), {}, {}};
  std::ptrdiff_t stride = 2;
  for (unsigned i = 0; i < 18; ++i) {
    strided.remote.push_back(stride);
    strided.local.insert(strided.local.begin(), stride);
    stride *= 2;
  }
  const Shape shape = made(strided, local_end);
  ASSERT_EQ(shape.dims, 18U);
  std::vector<std::byte> memory = noise(6, std::size_t{1} << 19);
  const StridedRegion region{&shape, remote_end, memory.data()};
  std::vector<std::byte> whole(shape.bytes());
  Cursor cursor;
  gather(region, cursor, whole.size(), whole.data());
  in_parts(region, whole.size(), {60000, 400000, 460000},
           [&](const Described& part, std::size_t bytes, std::size_t offset) {
             std::vector<std::byte> got(bytes);
             part.gather(bytes, got.data());
             ASSERT_EQ(std::memcmp(got.data(), whole.data() + offset, bytes), 0);
           });
}

TEST(BlockList, IsTheSameInPartsAsInOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 4);
    std::vector<std::byte> memory = noise(seed);
    const std::size_t bytes = 1 + random.below(12000);
    const std::vector<gex_Memvec_t> blocks = random_blocks(random, memory.data(), bytes);
    std::vector<void*> addresses;
    const std::size_t length = 1 + random.below(70);
    for (std::size_t i = 0; i < 1 + bytes / length; ++i)
      addresses.push_back(memory.data() + i * 80 + random.below(80 - length + 1));
    const BlockList vector(blocks.data(), blocks.size());
    const BlockList indexed(addresses.data(), addresses.size(), length);
    for (const BlockList& list : {vector, indexed}) {
      const std::vector<std::byte> whole = bytes_of(list);
      const std::vector<std::byte> data = noise(seed + 1, whole.size());
      in_parts(list, whole.size(), random_room(random),
               [&](const Described& part, std::size_t size, std::size_t offset) {
                 std::vector<std::byte> got(size);
                 part.gather(size, got.data());
                 ASSERT_EQ(std::memcmp(got.data(), whole.data() + offset, size), 0)
                     << "seed " << seed;
                 part.scatter(size, data.data() + offset);
               });
      ASSERT_EQ(bytes_of(list), data) << "seed " << seed;
    }
  }
}

TEST(BlockList, IsCopiedToOneThatIsCutOtherwise) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 5);
    std::vector<std::byte> from_memory = noise(seed);
    std::vector<std::byte> to_memory = noise(seed + 1);
    const std::size_t bytes = random.below(5000);
    const std::vector<gex_Memvec_t> from = random_blocks(random, from_memory.data(), bytes);
    const std::vector<gex_Memvec_t> to = random_blocks(random, to_memory.data(), bytes);
    const BlockList source(from.data(), from.size());
    const BlockList destination(to.data(), to.size());
    copy_lists(destination, 0, source, 0);
    ASSERT_EQ(bytes_of(destination), bytes_of(source)) << "seed " << seed;
  }
}

TEST(BlockList, NeighboursTravelAsOne) {
  std::vector<std::byte> memory(4096);
  std::vector<gex_Memvec_t> blocks;
  for (std::size_t i = 0; i < 100; ++i) blocks.push_back({memory.data() + i * 10, 10});
  std::uint64_t out[64];
  Cursor cursor;
  const Part part = describe(BlockList(blocks.data(), blocks.size()), cursor, 1000,
                             {512, 2000, 2000}, reinterpret_cast<std::byte*>(out));
  EXPECT_EQ(part.entries, 1U);
  EXPECT_EQ(part.data_bytes, 1000U);
}

TEST(StridedRegion, IsDescribedByTheDimensionsThatAPartSpans) {
  Shape shape = made({8, {10, 10, 10}, {16, 320, 6400}, {8, 80, 800}}, remote_end);
  ASSERT_EQ(shape.dims, 3U);
  std::vector<std::byte> memory(64000);
  std::uint64_t out[80];
  Cursor cursor{20, 0};
  const Part part = describe(StridedRegion{&shape, remote_end, memory.data()}, cursor, 80,
                             {600, 600, 600}, reinterpret_cast<std::byte*>(out));
  EXPECT_EQ(part.entries, 1U);
  EXPECT_EQ(part.data_bytes, 80U);
  EXPECT_EQ(cursor.block, 30U);
}

TEST(Described, IsNotAcceptedBeyondItsMessage) {
  std::uint64_t words[80] = {};
  auto* message = reinterpret_cast<std::byte*>(words);
  const auto reads = [&](std::uint32_t layout, std::uint32_t entries, std::size_t size) {
    Described described;
    std::size_t description_bytes = 0;
    return described.read(layout, entries, message, size, description_bytes);
  };
  EXPECT_FALSE(reads(3, 0, sizeof words)) << "no such layout";
  EXPECT_FALSE(reads(0, 0, sizeof words)) << "elements of no bytes";
  words[1] = 8;
  EXPECT_TRUE(reads(0, 0, 32));
  EXPECT_FALSE(reads(0, 0, 31));
  EXPECT_FALSE(reads(0, 1, 48)) << "a count of 0";
  words[4] = ~std::uint64_t{0};
  EXPECT_FALSE(reads(0, 1, 48)) << "more bytes than can be";
  words[4] = 4;
  EXPECT_TRUE(reads(0, 1, 48));
  EXPECT_FALSE(reads(0, 2, 48));
  EXPECT_FALSE(reads(0, 0xffffffff, sizeof words));
  words[2] = 4;
  EXPECT_FALSE(reads(0, 1, 48)) << "begins behind its end";
  words[2] = 0;
  words[3] = 8;
  EXPECT_FALSE(reads(0, 1, 48)) << "begins behind its element";
  EXPECT_TRUE(reads(1, 2, 32));
  EXPECT_FALSE(reads(1, 3, 32));
  EXPECT_FALSE(reads(1, 0xffffffff, sizeof words));
  EXPECT_TRUE(reads(2, 2, 32));
  EXPECT_FALSE(reads(2, 3, 32));
}

TEST(Described, LiesWithinOnlyIfAllItsBytesDo) {
  std::vector<std::byte> memory(1000);
  const auto within = [&](const std::byte* start, std::size_t bytes) {
    return start >= memory.data() && bytes <= memory.size() &&
           start <= memory.data() + memory.size() - bytes;
  };
  const auto check = [&](const auto& region, std::size_t bytes) {
    std::uint64_t out[64];
    Cursor cursor;
    auto* message = reinterpret_cast<std::byte*>(out);
    const Part part = describe(region, cursor, bytes, {512, 512, 512}, message);
    Described described;
    std::size_t size = 0;
    EXPECT_TRUE(described.read(static_cast<std::uint32_t>(part.layout), part.entries, message,
                               part.description_bytes, size));
    EXPECT_FALSE(described.lies_within(4096, within)) << "more than it has";
    return described.lies_within(part.data_bytes, within);
  };
  const Shape shape = made({8, {10}, {100}, {8}}, remote_end);
  EXPECT_TRUE(check(StridedRegion{&shape, remote_end, memory.data() + 92}, 80));
  EXPECT_FALSE(check(StridedRegion{&shape, remote_end, memory.data() + 93}, 80));
  EXPECT_FALSE(check(StridedRegion{&shape, remote_end, memory.data() - 1}, 80));
  void* addresses[] = {memory.data(), memory.data() + 990};
  EXPECT_TRUE(check(BlockList(addresses, 2, 10), 20));
  EXPECT_FALSE(check(BlockList(addresses, 2, 11), 22));
  const gex_Memvec_t blocks[] = {{memory.data() + 500, 5}, {memory.data() - 1, 2}};
  EXPECT_FALSE(check(BlockList(blocks, 2), 7));
}

}  // namespace
}  // namespace gex::vis
