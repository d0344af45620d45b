// Numbers by rank: equal to a plain table of them, in less memory where there are runs.

#include "job/rank_numbers.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gex::job {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(RankNumbers, ARunTakesAnEntryHoweverManyRanksItHas) {
  Numbers numbers(65536);
  for (std::uint32_t rank = 0; rank < numbers.size(); ++rank) numbers[rank] = rank / 128;
  const RankNumbers by_runs(numbers);
  EXPECT_EQ(by_runs.listed(), numbers);
  EXPECT_EQ(by_runs.bytes(), 8 * numbers.size() / 128);
  EXPECT_EQ(by_runs.ranks_of(3).front(), 3u * 128);
  EXPECT_EQ(by_runs.ranks_of(511).size(), 128u);
}

TEST(RankNumbers, RanksInTurnTakeAnEntryForEachHost) {
  Numbers numbers(4096);
  for (std::uint32_t rank = 0; rank < numbers.size(); ++rank) numbers[rank] = rank % 32;
  const RankNumbers in_turn(numbers);
  EXPECT_EQ(in_turn.listed(), numbers);
  EXPECT_EQ(in_turn.bytes(), 4u * 32);
  EXPECT_EQ(in_turn.ranks_of(5)[1], 37u);
  EXPECT_EQ(in_turn.ranks_of(31).size(), 128u);

  // Some hosts are full before others, or the last turn is not a whole one.
  numbers.back() = 0;
  EXPECT_EQ(RankNumbers(numbers).listed(), numbers);
  EXPECT_EQ(RankNumbers(numbers).bytes(), 4 * numbers.size());
  numbers.pop_back();
  EXPECT_EQ(RankNumbers(numbers).listed(), numbers);
  EXPECT_EQ(RankNumbers(numbers).bytes(), 4u * 32);
}

TEST(RankNumbers, AnyNumbersAreThoseOfATable) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Numbers numbers(1 + random() % 60);
    for (std::size_t i = 1; i < numbers.size(); ++i)
      numbers[i] = random() % 3 == 0 ? random() % 5 : numbers[i - 1];
    const RankNumbers kept(numbers);
    ASSERT_EQ(kept.listed(), numbers);
    EXPECT_LE(kept.bytes(), 4 * numbers.size());
    std::uint32_t ranks = 0;
    for (std::uint32_t number = 0; number < 5; ++number)
      for (const std::uint32_t rank : kept.ranks_of(number)) {
        EXPECT_EQ(numbers[rank], number);
        ++ranks;
      }
    EXPECT_EQ(ranks, numbers.size());
  }
}

}  // namespace
}  // namespace gex::job
