// Tables of all ranks that a neighborhood has once: what they hold, and what they take.

#include "shm/job_tables.h"

#include <gasnetex.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/os_memory.h"

namespace gex::shm {
namespace {

constexpr std::uint32_t ranks = 16'384;
constexpr std::uint64_t tables_offset = 3 * JobTables::page_bytes;

/// Tables in a file, and what it takes.
class Tables : public testing::Test {
 protected:
  std::uint64_t bytes_taken() const {
    struct stat status {};
    EXPECT_EQ(fstat(file_.descriptor.get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }

  os::MemoryFile file_ = os::create_memory_file("tables", tables_offset + JobTables::bytes(ranks));
  JobTables tables_{file_.descriptor.get(), tables_offset, ranks};
};

/// Addresses, sizes, keys, and whether there is one.
constexpr std::array<std::uint32_t, 4> widths{8, 8, 16, 4};

template <class Value, class Of>
std::vector<Value> of_all(Of of) {
  std::vector<Value> values;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) values.push_back(of(rank));
  return values;
}

template <class Value>
std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span(values));
}

template <class Value>
Value value_at(const RankColumns& columns, const os::Mapping& table, std::size_t column,
               std::uint32_t rank) {
  Value value;
  std::memcpy(&value, columns.at(table.data(), column, rank), sizeof value);
  return value;
}

TEST_F(Tables, TakeSixteenBytesARankWhereSegmentsDifferInTheirAddresses) {
  ASSERT_EQ(tables_.fill_constant(), 0);
  const RankColumns columns(ranks, widths);
  const auto addresses = of_all<std::uint64_t>([](std::uint32_t rank) { return rank * 4096ULL; });
  const auto sizes = of_all<std::uint64_t>([](std::uint32_t) { return 1ULL << 30; });
  using Key = std::array<std::uint64_t, 2>;
  const auto keys = of_all<Key>([](std::uint32_t) { return Key{7, 9}; });
  const auto has_key = of_all<std::uint32_t>([](std::uint32_t) { return 1; });
  ASSERT_EQ(tables_.write_segments(columns, 0, bytes_of(addresses)), 0);
  ASSERT_EQ(tables_.write_segments(columns, 1, bytes_of(sizes)), 0);
  ASSERT_EQ(tables_.write_segments(columns, 2, bytes_of(keys)), 0);
  ASSERT_EQ(tables_.write_segments(columns, 3, bytes_of(has_key)), 0);

  constexpr std::uint64_t few_pages = 2 * JobTables::page_bytes;
  EXPECT_LE(bytes_taken(), 16 * std::uint64_t{ranks} + few_pages);

  const os::Mapping table = tables_.map_segments();
  const os::Mapping displacements = tables_.map_displacements();
  ASSERT_TRUE(table);
  ASSERT_TRUE(displacements);
  const auto* const displacement =
      reinterpret_cast<const std::intptr_t*>(displacements.data() + JobTables::page_bytes);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(value_at<std::uint64_t>(columns, table, 0, rank), addresses[rank]);
    ASSERT_EQ(value_at<std::uint64_t>(columns, table, 1, rank), sizes[rank]);
    ASSERT_EQ(value_at<Key>(columns, table, 2, rank), keys[rank]);
    ASSERT_EQ(value_at<std::uint32_t>(columns, table, 3, rank), 1U);
    ASSERT_EQ(displacement[rank], GEX_NOT_MAPPED_);
  }
}

TEST_F(Tables, HaveZerosAtFirstAndSeeWhatIsWrittenLater) {
  const RankColumns columns(ranks, widths);
  const os::Mapping table = tables_.map_segments();
  ASSERT_TRUE(table);
  const auto size = [&](std::uint32_t rank) {
    return value_at<std::uint64_t>(columns, table, 1, rank);
  };
  EXPECT_EQ(size(0), 0U);
  EXPECT_EQ(size(ranks - 1), 0U);
  auto sizes = of_all<std::uint64_t>([](std::uint32_t) { return 4096; });
  // One that differs, at either end, and none again.
  for (const std::uint32_t other : {0U, ranks - 1}) {
    sizes[other] = 8192;
    ASSERT_EQ(tables_.write_segments(columns, 1, bytes_of(sizes)), 0);
    for (const std::uint32_t rank : {0U, 1U, ranks - 2, ranks - 1})
      EXPECT_EQ(size(rank), rank == other ? 8192U : 4096U) << rank;
    sizes[other] = 4096;
    ASSERT_EQ(tables_.write_segments(columns, 1, bytes_of(sizes)), 0);
    EXPECT_EQ(size(other), 4096U);
  }
  // Other columns are as they were.
  EXPECT_EQ(value_at<std::uint64_t>(columns, table, 0, 5), 0U);
  EXPECT_EQ(value_at<std::uint32_t>(columns, table, 3, 5), 0U);
}

TEST_F(Tables, HaveColumnsThatDoNotOverlap) {
  const RankColumns columns(ranks, widths);
  std::vector<std::vector<std::byte>> written;
  for (std::size_t column = 0; column < widths.size(); ++column) {
    auto& values = written.emplace_back(std::size_t{widths[column]} * ranks);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::byte>(i / widths[column] * 5 + column * 60 + i);
    ASSERT_EQ(tables_.write_segments(columns, column, values), 0);
  }
  const os::Mapping table = tables_.map_segments();
  ASSERT_TRUE(table);
  for (std::size_t column = 0; column < widths.size(); ++column)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(
          std::memcmp(columns.at(table.data(), column, rank),
                      written[column].data() + std::size_t{rank} * widths[column], widths[column]),
          0)
          << "column " << column << ", rank " << rank;
}

}  // namespace
}  // namespace gex::shm
