// Tables as they are sent between hosts.

#include "job/packed_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "base/random.h"

namespace gex::job {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t no_limit = UINT64_MAX;

/// Packs, and expects that unpacking gives the table again. Returns how many bytes are sent.
std::size_t packed_size(const Bytes& table, std::size_t rows) {
  const Bytes packed = pack_table(table, rows);
  const auto again = unpack_table(packed, rows, table.size());
  EXPECT_TRUE(again == table);
  EXPECT_LE(packed.size(), table.size() + max_growth);
  return packed.size();
}

/// The block of a rank as of a network: a name in a wide field, the address of the host, a port.
struct Row {
  char network[64];
  std::uint32_t address;
  std::uint16_t port;
  std::uint16_t unused;
};

Bytes table_of_job(std::uint32_t ranks, std::uint32_t ranks_per_host) {
  Bytes table;
  Random random(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Row row{};
    std::strncpy(row.network, "tcp;ofi_rxm", sizeof row.network);
    row.address = 0x0a000000 + rank / ranks_per_host;
    row.port = static_cast<std::uint16_t>(random());
    const auto bytes = std::as_bytes(std::span(&row, 1));
    table.insert(table.end(), bytes.begin(), bytes.end());
  }
  return table;
}

TEST(PackedTable, HasOnceWhatRowsHaveInCommon) {
  for (const std::uint32_t hosts : {1u, 8u, 512u}) {
    constexpr std::uint32_t ranks_per_host = 128;
    const std::uint32_t ranks = hosts * ranks_per_host;
    const std::size_t size = packed_size(table_of_job(ranks, ranks_per_host), ranks);
    // The two bytes of a rank's port; a run of three bytes for each host, and of four for each 256,
    // of the bytes of the address; and the rest once.
    EXPECT_LE(size, 2 * ranks + 3 * hosts + 4 * (1 + hosts / 256) + 64) << hosts;
    EXPECT_GE(size, 2 * ranks);
  }
}

TEST(PackedTable, OfNoBytesIsEmpty) {
  EXPECT_EQ(packed_size({}, 3), 0u);
  EXPECT_EQ(packed_size({}, 1), 0u);
}

TEST(PackedTable, OfZerosIsAFewBytes) {
  EXPECT_LE(packed_size(Bytes(std::size_t{640} * 4096), 4096), 8u);
}

TEST(PackedTable, OfOneRowIsHardlyLongerThanThat) {
  Bytes row;
  for (int i = 0; i < 100; ++i) row.push_back(static_cast<std::byte>(i % 3 == 0 ? i : 0));
  EXPECT_LE(packed_size(row, 1), row.size() + 4);
}

TEST(PackedTable, OfAnyBytesComesOutAsItWentIn) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const std::size_t rows = 1 + random.below(random.below(2) == 0 ? 4 : 300);
    const std::size_t columns = 1 + random.below(12);
    const std::uint64_t values = 1 + random.below(random.below(2) == 0 ? 2 : 256);
    const std::uint64_t stretch = 1 + random.below(2 * rows);
    Bytes table(rows * columns);
    for (std::size_t column = 0; column < columns; ++column) {
      const bool changes = random.below(3) != 0;
      auto value = static_cast<std::byte>(random.below(values));
      for (std::size_t row = 0; row < rows; ++row) {
        if (changes && random.below(stretch) == 0)
          value = static_cast<std::byte>(random.below(values));
        table[row * columns + column] = value;
      }
    }
    packed_size(table, rows);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(PackedTable, RefusesWhatIsNone) {
  const Bytes table = table_of_job(64, 8);
  const Bytes packed = pack_table(table, 64);
  ASSERT_TRUE(unpack_table(packed, 64, no_limit));
  EXPECT_FALSE(unpack_table(packed, 64, table.size() - 1)) << "more than the limit";
  EXPECT_FALSE(unpack_table(packed, 63, no_limit)) << "of another number of rows";
  for (std::size_t size = 1; size < packed.size(); ++size)
    EXPECT_FALSE(unpack_table(std::span(packed).first(size), 64, no_limit)) << size;
  Bytes longer = packed;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(unpack_table(longer, 64, no_limit));
}

TEST(PackedTable, SurvivesBytesOfChance) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    Bytes bytes = pack_table(table_of_job(16, 4), 16);
    if (random.below(4) == 0) bytes.resize(random.below(bytes.size()));
    for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !bytes.empty(); --changes)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random());
    const auto table = unpack_table(bytes, 16, 1 << 16);
    if (!table) ++refused;
    EXPECT_EQ(table ? table->size() % 16 : 0, 0u);
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace gex::job
