// Members of teams as clients make them: who they are, at which rank, and what that takes.

#include "core/team_members.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gex {
namespace {

using Locations = std::vector<gex_EP_Location_t>;

constexpr gex_Rank_t ranks = 16'384;
constexpr gex_Rank_t host = 128;

Locations in_steps(gex_Rank_t first, gex_Rank_t step, gex_Rank_t count, gex_EP_Index_t index = 0) {
  Locations made;
  for (gex_Rank_t i = 0; i < count; ++i) made.push_back({first + i * step, index});
  return made;
}

/// All that a team is asked for is as a search of the list finds it.
void expect_members(const TeamMembers& members, const Locations& list) {
  ASSERT_EQ(members.size(), list.size());
  for (gex_Rank_t r = 0; r < list.size(); ++r) {
    ASSERT_EQ(members.jobrank_of(r), list[r].gex_rank) << r;
    ASSERT_EQ(members.endpoint_of(r), list[r].gex_ep_index) << r;
    ASSERT_EQ(members[r].gex_rank, list[r].gex_rank);
    ASSERT_EQ(members[r].gex_ep_index, list[r].gex_ep_index);
  }
  std::vector<gex_Rank_t> lowest(ranks, GEX_RANK_INVALID);
  std::vector<gex_Rank_t> primordial(ranks, GEX_RANK_INVALID);
  for (gex_Rank_t r = 0; r < list.size(); ++r) {
    const gex_EP_Location_t& member = list[r];
    if (lowest[member.gex_rank] == GEX_RANK_INVALID) lowest[member.gex_rank] = r;
    if (member.gex_ep_index == 0) primordial[member.gex_rank] = r;
  }
  for (gex_Rank_t jobrank = 0; jobrank < ranks; ++jobrank) {
    ASSERT_EQ(members.rank_of(jobrank), lowest[jobrank]) << "jobrank " << jobrank;
    const gex_Rank_t first = lowest[jobrank];
    ASSERT_EQ(members.primordial_rank_of(jobrank),
              primordial[jobrank] != GEX_RANK_INVALID ? primordial[jobrank] : first)
        << "jobrank " << jobrank;
  }
}

TEST(TeamMembers, OfAllRowsColumnsHostsAndLeadersTakeNoEntries) {
  struct Case {
    const char* name;
    Locations list;
  };
  const Case cases[] = {
      {"all", in_steps(0, 1, ranks)},
      {"row", in_steps(3 * host, 1, host)},
      {"column", in_steps(5, host, host)},
      {"leaders", in_steps(0, host, ranks / host)},
      {"every other", in_steps(1, 2, 8'192)},
      {"backwards", in_steps(ranks - 1, ~0U, ranks)},
      {"down a column", in_steps(8'195, 0U - host, 64)},
      {"one", in_steps(77, 1, 1)},
      {"created endpoints", in_steps(2, 4, 1000, 3)},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const TeamMembers members(one.list);
    expect_members(members, one.list);
    EXPECT_EQ(members.bytes(), 0U);
    EXPECT_EQ(members.are_primordial(), one.list[0].gex_ep_index == 0);
  }
  expect_members(TeamMembers::all(ranks), in_steps(0, 1, ranks));
  EXPECT_EQ(TeamMembers::all(ranks).bytes(), 0U);
}

TEST(TeamMembers, InNoStepsTakeFourBytesInRisingOrderAndEightInAnyOther) {
  Locations rising = in_steps(0, 1, ranks);
  rising.erase(rising.begin() + 1000);
  const TeamMembers all_but_one(rising);
  expect_members(all_but_one, rising);
  EXPECT_EQ(all_but_one.bytes(), 4 * rising.size());

  Locations any = rising;
  std::ranges::shuffle(any, std::minstd_rand(7));
  const TeamMembers shuffled(any);
  expect_members(shuffled, any);
  EXPECT_EQ(shuffled.bytes(), 8 * any.size());
}

TEST(TeamMembers, OfSeveralEndpointsOfAProcessAreFoundByTheirLowestAndThePrimordialOne) {
  Locations list;
  for (gex_Rank_t process = 0; process < 40; ++process)
    for (const gex_EP_Index_t index : {2, 0, 1}) list.push_back({process, index});
  const TeamMembers by_process(list);
  expect_members(by_process, list);
  EXPECT_FALSE(by_process.are_primordial());
  EXPECT_EQ(by_process.bytes(), 6 * list.size());

  std::ranges::shuffle(list, std::minstd_rand(11));
  expect_members(TeamMembers(list), list);
  // Without any primordial one, and of a single process.
  const Locations of_one{{9, 4}, {9, 1}, {9, 3}};
  expect_members(TeamMembers(of_one), of_one);
  const Locations with_primordial{{9, 4}, {9, 0}, {9, 3}};
  expect_members(TeamMembers(with_primordial), with_primordial);
}

TEST(TeamMembers, OfDifferentEndpointsInEqualStepsTakeTwoBytes) {
  Locations list = in_steps(1, 3, 100);
  list[50].gex_ep_index = 7;
  const TeamMembers members(list);
  expect_members(members, list);
  EXPECT_EQ(members.bytes(), 2 * list.size());
  EXPECT_FALSE(members.are_primordial());
}

TEST(TeamMembers, MayBeNone) {
  const TeamMembers none{Locations()};
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.rank_of(0), GEX_RANK_INVALID);
}

}  // namespace
}  // namespace gex
