// Transfers cut into operations of several pieces, against the naive loop.

#include "vis/pieces.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "vis_regions.h"

namespace gex::vis {
namespace {

std::byte* at(const net::RemotePiece& piece) {
  return reinterpret_cast<std::byte*>(piece.address);
}
std::byte* at(const net::LocalPiece& piece) {
  return static_cast<std::byte*>(piece.data);
}

/// The pieces of one end, one after the other.
template <class Piece>
std::vector<std::byte> bytes_of(const Piece* pieces, std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NE(pieces[i].size, 0U);
    if (i != 0) {
      EXPECT_NE(at(pieces[i - 1]) + pieces[i - 1].size, at(pieces[i])) << "one piece in two";
    }
    bytes.insert(bytes.end(), at(pieces[i]), at(pieces[i]) + pieces[i].size);
  }
  return bytes;
}

/// As a network would carry out a put.
void carry_out(const Pieces& pieces) {
  const std::vector<std::byte> bytes = bytes_of(pieces.local, pieces.local_count);
  ASSERT_EQ(bytes.size(), pieces.bytes);
  ASSERT_EQ(bytes_of(pieces.remote, pieces.remote_count).size(), pieces.bytes);
  const std::byte* from = bytes.data();
  for (std::size_t i = 0; i < pieces.remote_count; ++i) {
    std::memcpy(at(pieces.remote[i]), from, pieces.remote[i].size);
    from += pieces.remote[i].size;
  }
}

/// Puts a region operation by operation; the number of operations.
template <class Region>
std::size_t put(const Region& remote, const Region& local, std::size_t bytes,
                const PieceLimits& limits) {
  std::size_t operations = 0;
  Cut cut{limits, bytes};
  EXPECT_LE(1U, min_operations(count_pieces(remote, local), cut.limits, cut.left));
  while (cut.left != 0) {
    Pieces pieces;
    const Cut next = take_pieces(remote, local, cut, pieces);
    EXPECT_GT(pieces.bytes, 0U);
    EXPECT_LE(pieces.bytes, limits.bytes);
    EXPECT_LE(pieces.remote_count, limits.remote_pieces);
    EXPECT_LE(pieces.local_count, limits.local_pieces);
    EXPECT_EQ(next.left, cut.left - pieces.bytes);
    // What is not accepted is cut in the same way again.
    Pieces again;
    EXPECT_EQ(take_pieces(remote, local, cut, again).left, next.left);
    EXPECT_EQ(again.remote_count, pieces.remote_count);
    carry_out(pieces);
    cut = next;
    ++operations;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GE(operations, min_operations(count_pieces(remote, local), limits, bytes));
  return operations;
}

PieceLimits random_limits(Random& random) {
  constexpr std::size_t counts[] = {1, 2, 3, 8, 64, Pieces::max_pieces};
  return {counts[random.below(std::size(counts))], counts[random.below(std::size(counts))],
          1 + (random.below(2) == 0 ? random.below(100) : random.below(100000))};
}

TEST(Pieces, OfAStridedTransferMoveWhatTheNaiveLoopMoves) {
  const std::vector<std::byte> before = noise(11);
  std::vector<std::byte> local = noise(12);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 13);
    const Strided strided = random_strided(random, 6, 2000);
    const Shape shape = made(strided, remote_end);
    if (!fits(shape)) continue;
    std::vector<std::byte> remote = before;
    put(StridedRegion{&shape, remote_end, remote.data() + middle + shape.offset[remote_end]},
        StridedRegion{&shape, local_end, local.data() + middle + shape.offset[local_end]},
        shape.bytes(), random_limits(random));
    ASSERT_EQ(remote, naive_put(strided, before, local)) << "seed " << seed;
  }
}

TEST(Pieces, OfListsMoveWhatIsListed) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 14);
    std::vector<std::byte> from_memory = noise(seed);
    std::vector<std::byte> to_memory = noise(seed + 1);
    const std::size_t bytes = 1 + random.below(5000);
    const std::vector<gex_Memvec_t> from = random_blocks(random, from_memory.data(), bytes);
    const std::vector<gex_Memvec_t> to = random_blocks(random, to_memory.data(), bytes);
    const BlockList source(from.data(), from.size());
    const BlockList destination(to.data(), to.size());
    put(destination, source, bytes, random_limits(random));
    ASSERT_EQ(vis::bytes_of(destination), vis::bytes_of(source)) << "seed " << seed;
  }
}

TEST(Pieces, OfAContiguousEndAreOneOfEachOperation) {
  std::vector<std::byte> memory(40000);
  const Shape shape = made({8, {100}, {16}, {8}}, remote_end);
  const StridedRegion remote{&shape, remote_end, memory.data()};
  const StridedRegion local{&shape, local_end, memory.data() + 20000};
  EXPECT_EQ(count_pieces(remote), 100U);
  EXPECT_EQ(count_pieces(local), 1U);
  // One local piece is enough, then.
  EXPECT_EQ(put(remote, local, 800, {100, 1, 10000}), 1U);
  EXPECT_EQ(put(remote, local, 800, {30, 1, 10000}), 4U);
  EXPECT_EQ(put(remote, local, 800, {100, 1, 300}), 3U);
  EXPECT_EQ(put(remote, local, 800, {1, 1, 10000}), 100U);
  EXPECT_EQ(min_operations(count_pieces(remote, local), {30, 1, 10000}, 800), 4U);
  EXPECT_EQ(min_operations(count_pieces(remote, local), {100, 1, 300}, 800), 3U);
}

TEST(Pieces, AreCountedWithoutEmptyBlocksAndWithNeighboursAsOne) {
  std::vector<std::byte> memory(100);
  const gex_Memvec_t blocks[] = {{nullptr, 0},
                                 {memory.data(), 4},
                                 {memory.data() + 4, 6},
                                 {nullptr, 0},
                                 {memory.data() + 50, 1}};
  EXPECT_EQ(count_pieces(BlockList(blocks, std::size(blocks))), 2U);
  void* const addresses[] = {memory.data(), memory.data() + 8, memory.data() + 24};
  EXPECT_EQ(count_pieces(BlockList(addresses, 3, 8)), 2U);
}

}  // namespace
}  // namespace gex::vis
