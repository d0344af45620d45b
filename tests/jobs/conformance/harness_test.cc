// The harness's own promises, on which every other test stands.

#include "conformance.h"

namespace conformance::harness_test {
namespace {

TEST(Harness, RanksAreDistinctAndInOrder) {
  const std::vector<gex_Rank_t> ranks = gather(rank());
  for (gex_Rank_t peer = 0; peer < size(); ++peer) EXPECT_EQ(ranks[peer], peer);
}

TEST(Harness, GatherKeepsConsecutiveExchangesApart) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::vector<std::uint64_t> values = gather(round * 1000 + rank());
    for (gex_Rank_t peer = 0; peer < size(); ++peer) EXPECT_EQ(values[peer], round * 1000 + peer);
  }
}

TEST(Harness, AllRanksRunTheSameTest) {
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const std::vector<int> counts = gather(tests.successful_test_count() + tests.failed_test_count());
  for (gex_Rank_t peer = 0; peer < size(); ++peer) EXPECT_EQ(counts[peer], counts[0]);
}

}  // namespace
}  // namespace conformance::harness_test
