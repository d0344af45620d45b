// Hosts and neighborhoods of a job's ranks.

#include "shm/placement.h"

#include <gtest/gtest.h>

namespace gex::shm {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(Placement, OneHostIsOneNeighborhoodWithoutALimit) {
  const Placement placement(Numbers(5, 0), 0);
  EXPECT_EQ(placement.host, Numbers(5, 0));
  EXPECT_EQ(placement.neighborhood, Numbers(5, 0));
  ASSERT_EQ(placement.hosts.size(), 1u);
  ASSERT_EQ(placement.neighborhoods.size(), 1u);
  EXPECT_EQ(placement.neighborhood_of(3).first, 0u);
  EXPECT_EQ(placement.neighborhood_of(3).size, 5u);
}

TEST(Placement, ALimitCutsAHostIntoGroupsAndLeavesTheRestTogether) {
  const Placement placement(Numbers(5, 0), 2);
  EXPECT_EQ(placement.neighborhood, (Numbers{0, 0, 1, 1, 2}));
  EXPECT_EQ(placement.neighborhood_of(3).first, 2u);
  EXPECT_EQ(placement.neighborhood_of(3).size, 2u);
  EXPECT_EQ(placement.neighborhood_of(4).first, 4u);
  EXPECT_EQ(placement.neighborhood_of(4).size, 1u);
  EXPECT_EQ(placement.host_of(4).size, 5u);
}

TEST(Placement, ALimitAboveTheHostsSizeIsNone) {
  EXPECT_EQ(Placement(Numbers(3, 0), 3).neighborhoods.size(), 1u);
  EXPECT_EQ(Placement(Numbers(3, 0), 100).neighborhoods.size(), 1u);
}

TEST(Placement, NeighborhoodsEndWithTheirHost) {
  // Three hosts of 3, 1 and 4 ranks, in groups of at most 2.
  const Placement placement({0, 0, 0, 1, 2, 2, 2, 2}, 2);
  EXPECT_EQ(placement.host, (Numbers{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(placement.neighborhood, (Numbers{0, 0, 1, 2, 3, 3, 4, 4}));
  EXPECT_EQ(placement.host_of(6).first, 4u);
  EXPECT_EQ(placement.host_of(6).size, 4u);
  EXPECT_EQ(placement.neighborhood_of(2).first, 2u);
  EXPECT_EQ(placement.neighborhood_of(2).size, 1u);
}

TEST(Placement, OneRankEachWhenSharedMemoryIsTurnedOff) {
  EXPECT_EQ(Placement({0, 0, 1}, 1).neighborhood, (Numbers{0, 1, 2}));
}

}  // namespace
}  // namespace gex::shm
