// Parts of a range: taken, given back, taken again.

#include "shm/range_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gex::shm {
namespace {

TEST(RangeAllocator, TakesTheLowestPlaceThatFits) {
  RangeAllocator range(100);
  EXPECT_EQ(range.take(30, 1), 0U);
  EXPECT_EQ(range.take(30, 1), 30U);
  EXPECT_EQ(range.take(40, 1), 60U);
  EXPECT_EQ(range.take(1, 1), std::nullopt);
  EXPECT_EQ(range.give_back(30), 30U);
  EXPECT_EQ(range.take(31, 1), std::nullopt);
  EXPECT_EQ(range.take(10, 1), 30U);
  EXPECT_EQ(range.take(20, 1), 40U);
}

TEST(RangeAllocator, AlignsStarts) {
  RangeAllocator range(100);
  EXPECT_EQ(range.take(3, 16), 0U);
  EXPECT_EQ(range.take(3, 16), 16U);
  EXPECT_EQ(range.take(3, 1), 3U);
  EXPECT_EQ(range.take(10, 64), 64U);
  EXPECT_EQ(range.take(30, 64), std::nullopt);
}

TEST(RangeAllocator, TakesTheWholeRangeAndNoMore) {
  RangeAllocator range(4096);
  EXPECT_EQ(range.take(4097, 1), std::nullopt);
  EXPECT_EQ(range.take(~std::uint64_t{0}, 1), std::nullopt);
  EXPECT_EQ(range.take(4096, 4096), 0U);
  EXPECT_EQ(range.give_back(0), 4096U);
  EXPECT_EQ(range.take(4096, 4096), 0U);
  EXPECT_EQ(RangeAllocator().take(1, 1), std::nullopt);
}

TEST(RangeAllocator, NeverGivesAPlaceTwice) {
  std::mt19937 random(5);
  RangeAllocator range(1000);
  std::map<std::uint64_t, std::uint64_t> taken;
  int failed = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      ASSERT_EQ(range.give_back(victim->first), victim->second);
      taken.erase(victim);
      continue;
    }
    const std::uint64_t bytes = 1 + random() % 200;
    const std::uint64_t alignment = std::uint64_t{1} << random() % 5;
    const auto start = range.take(bytes, alignment);
    if (!start) {
      ++failed;
      continue;
    }
    ASSERT_EQ(*start % alignment, 0U);
    ASSERT_LE(*start + bytes, 1000U);
    const auto after = taken.lower_bound(*start);
    ASSERT_TRUE(after == taken.end() || *start + bytes <= after->first);
    ASSERT_TRUE(after == taken.begin() ||
                std::prev(after)->first + std::prev(after)->second <= *start);
    taken.emplace(*start, bytes);
  }
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace gex::shm
