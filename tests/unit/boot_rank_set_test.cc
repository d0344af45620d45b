#include "boot/rank_set.h"

#include <gtest/gtest.h>

#include <numeric>

namespace gex::boot {
namespace {

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
  EXPECT_EQ(describe_ranks(ranks), "ranks 0-1023");
}

TEST(DescribeRanks, ScatteredOnesAreCutWithACount) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < 1024; rank += 2) ranks.push_back(rank);
  const std::string text = describe_ranks(ranks);
  EXPECT_LT(text.size(), 250u);
  const std::size_t cut = text.find(" and ");
  ASSERT_NE(cut, text.npos);
  std::size_t named = 0;
  for (std::size_t i = 0; i < cut; ++i) named += text[i] == ',' ? 1 : 0;
  EXPECT_EQ(text.substr(cut), " and " + std::to_string(512 - named - 1) + " more");
}

}  // namespace
}  // namespace gex::boot
