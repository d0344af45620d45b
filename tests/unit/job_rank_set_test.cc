#include "job/rank_set.h"

#include <gtest/gtest.h>

#include <numeric>

namespace gex::job {
namespace {

TEST(RankSet, HasItsRanksAndTheirPlaces) {
  const RankSet ranks = {1, 4, 5, 9};
  std::uint32_t index = 0;
  for (const std::uint32_t rank : ranks) {
    EXPECT_TRUE(ranks.contains(rank));
    EXPECT_EQ(ranks.index_of(rank), index);
    EXPECT_EQ(ranks[index++], rank);
  }
  EXPECT_EQ(index, ranks.size());
  for (const std::uint32_t rank : {0u, 2u, 3u, 6u, 10u, ~0u}) EXPECT_FALSE(ranks.contains(rank));
  EXPECT_FALSE(RankSet().contains(0));
}

TEST(DescribeRanks, Few) {
  EXPECT_EQ(describe_ranks({}), "no rank");
  EXPECT_EQ(describe_ranks({3}), "rank 3");
  EXPECT_EQ(describe_ranks({0, 1}), "ranks 0,1");
  EXPECT_EQ(describe_ranks({0, 1, 2}), "ranks 0-2");
  EXPECT_EQ(describe_ranks({0, 1, 2, 5, 7, 8}), "ranks 0-2,5,7,8");
}

TEST(DescribeRanks, AllOfManyIsShort) {
  std::vector<std::uint32_t> ranks(1024);
  std::iota(ranks.begin(), ranks.end(), 0u);
  EXPECT_EQ(describe_ranks(RankSet(ranks)), "ranks 0-1023");
}

TEST(DescribeRanks, ScatteredOnesAreCutWithACount) {
  RankSet ranks;
  for (std::uint32_t rank = 0; rank < 1024; rank += 2) ranks.add(rank);
  const std::string text = describe_ranks(ranks);
  EXPECT_LT(text.size(), 250u);
  const std::size_t cut = text.find(" and ");
  ASSERT_NE(cut, text.npos);
  std::size_t named = 0;
  for (std::size_t i = 0; i < cut; ++i) named += text[i] == ',' ? 1 : 0;
  EXPECT_EQ(text.substr(cut), " and " + std::to_string(512 - named - 1) + " more");
}

}  // namespace
}  // namespace gex::job
