// Hosts and neighborhoods of a job's ranks.

#include "shm/placement.h"

#include <gtest/gtest.h>

#include <random>

namespace gex::shm {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Ranks = job::RankSet;

TEST(Placement, OneHostIsOneNeighborhoodWithoutALimit) {
  const Placement placement(Numbers(5, 0), 0);
  EXPECT_EQ(placement.host.listed(), Numbers(5, 0));
  EXPECT_EQ(placement.neighborhood.listed(), Numbers(5, 0));
  EXPECT_EQ(placement.host_count, 1u);
  EXPECT_EQ(placement.neighborhood_count, 1u);
  EXPECT_EQ(placement.neighborhood_of(3), (Ranks{0, 1, 2, 3, 4}));
}

TEST(Placement, ALimitCutsAHostIntoGroupsAndLeavesTheRestTogether) {
  const Placement placement(Numbers(5, 0), 2);
  EXPECT_EQ(placement.neighborhood.listed(), (Numbers{0, 0, 1, 1, 2}));
  EXPECT_EQ(placement.neighborhood_of(3), (Ranks{2, 3}));
  EXPECT_EQ(placement.neighborhood_of(4), Ranks{4});
  EXPECT_EQ(placement.host_of(4).size(), 5u);
}

TEST(Placement, ALimitAboveTheHostsSizeIsNoLimit) {
  EXPECT_EQ(Placement(Numbers(3, 0), 3).neighborhood_count, 1u);
  EXPECT_EQ(Placement(Numbers(3, 0), 100).neighborhood_count, 1u);
}

TEST(Placement, NeighborhoodsEndWithTheirHost) {
  // Three hosts of 3, 1 and 4 ranks, in groups of at most 2.
  const Placement placement({0, 0, 0, 1, 2, 2, 2, 2}, 2);
  EXPECT_EQ(placement.host.listed(), (Numbers{0, 0, 0, 1, 2, 2, 2, 2}));
  EXPECT_EQ(placement.neighborhood.listed(), (Numbers{0, 0, 1, 2, 3, 3, 4, 4}));
  EXPECT_EQ(placement.host_of(6), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(placement.neighborhood_of(2), Ranks{2});
}

TEST(Placement, HostsThatGotTheirRanksInTurnAreWholeAllTheSame) {
  const Placement placement({7, 3, 7, 3, 7}, 0);
  EXPECT_EQ(placement.host.listed(), (Numbers{0, 1, 0, 1, 0}));
  EXPECT_EQ(placement.neighborhood.listed(), placement.host.listed());
  EXPECT_EQ(placement.host_of(4), (Ranks{0, 2, 4}));
  EXPECT_EQ(placement.neighborhood_of(1), (Ranks{1, 3}));
  EXPECT_EQ(placement.host_count, 2u);
}

TEST(Placement, NeighborhoodsOfRanksInTurnCountByTheirLowestRanks) {
  const Placement placement({0, 1, 0, 1, 0, 1, 0}, 2);
  EXPECT_EQ(placement.host.listed(), (Numbers{0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(placement.neighborhood.listed(), (Numbers{0, 1, 0, 1, 2, 3, 2}));
  EXPECT_EQ(placement.neighborhood_of(6), (Ranks{4, 6}));
  EXPECT_EQ(placement.neighborhood_of(5), Ranks{5});
}

TEST(Placement, OfAnyLayoutHasEveryRankOnceAndEveryGroupAsLargeAsItMayBe) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t limit = random() % 5;
    Numbers labels(1 + random() % 40);
    for (std::uint32_t& label : labels) label = 100 + random() % 6;
    const Placement placement(labels, limit);
    const auto expect_partition = [&](const std::vector<Ranks>& groups,
                                      const job::RankNumbers& group_of) {
      std::uint32_t members = 0;
      for (std::uint32_t group = 0; group < groups.size(); ++group) {
        members += groups[group].size();
        for (std::uint32_t i = 0; i < groups[group].size(); ++i) {
          EXPECT_EQ(group_of[groups[group][i]], group);
          if (i > 0) {
            EXPECT_LT(groups[group][i - 1], groups[group][i]);
          }
        }
        if (group > 0) {
          EXPECT_LT(groups[group - 1].front(), groups[group].front());
        }
      }
      EXPECT_EQ(members, labels.size());
    };
    expect_partition(placement.hosts(), placement.host);
    expect_partition(placement.neighborhoods(), placement.neighborhood);
    std::size_t wanted = 0;
    for (const Ranks& host : placement.hosts()) {
      for (const std::uint32_t rank : host) EXPECT_EQ(labels[rank], labels[host.front()]);
      wanted += limit == 0 ? 1 : (host.size() + limit - 1) / limit;
    }
    EXPECT_EQ(placement.neighborhood_count, wanted);
    for (const Ranks& group : placement.neighborhoods()) {
      EXPECT_EQ(placement.neighborhood_of(group.front()), group);
      if (limit != 0) {
        EXPECT_LE(group.size(), limit);
      }
      for (const std::uint32_t rank : group)
        EXPECT_EQ(placement.host[rank], placement.host[group.front()]);
    }
  }
}

TEST(Placement, OneRankEachWhenSharedMemoryIsTurnedOff) {
  EXPECT_EQ(Placement({0, 0, 1}, 1).neighborhood.listed(), (Numbers{0, 1, 2}));
}

}  // namespace
}  // namespace gex::shm
