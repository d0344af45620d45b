// The records that a member keeps of a team's collective operations.

#include <cstdint>

#include "coll/team_collectives.h"
#include "conformance.h"
#include "core/process.h"

namespace gex::coll {
namespace {

using conformance::rank;
using conformance::size;

TEST(TeamCollectivesKept, AreOverWithTheLastEvent) {
  gex_TM_t split = GEX_TM_INVALID;
  gex_TM_Split(&split, conformance::team(), 0, static_cast<int>(rank()), nullptr, 0, 0);
  Team& team = Team::from(split);
  constexpr std::uint32_t calls = 20;
  std::uint32_t sums[calls];
  gex_Event_t events[calls];
  for (std::uint32_t i = 0; i < calls; ++i) {
    const std::uint32_t mine = i + rank();
    events[i] = gex_Coll_ReduceToAllNB(split, &sums[i], &mine, GEX_DT_U32, sizeof mine, 1,
                                       GEX_OP_ADD, nullptr, nullptr, 0);
    gex_Event_Wait(events[i]);
    EXPECT_EQ(sums[i], i * size() + size() * (size() - 1) / 2);
  }
  TeamCollectives* const kept = TeamCollectives::find(team);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->unsynchronised(), 0U);
  EXPECT_EQ(team.collectives_called.begun, calls);
  EXPECT_EQ(team.collectives_called.over, calls);

  std::uint64_t value = rank();
  gex_Event_t event = gex_Coll_BroadcastNB(split, 0, &value, &value, sizeof value, 0);
  if (event != GEX_EVENT_INVALID) {
    EXPECT_EQ(kept->unsynchronised(), 1U);
    gex_Event_Wait(event);
  }
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(kept->unsynchronised(), 0U);
  kept->settle();
  EXPECT_TRUE(kept->idle());
  gex_TM_Destroy(split, nullptr, 0);
}

TEST(Leaders, AreForFewBytesWhereRanksShareCores) {
  EXPECT_TRUE(Leaders::pay(/*oversubscribed=*/false, 1 << 20));
  EXPECT_TRUE(Leaders::pay(/*oversubscribed=*/true, 8 << 10));
  EXPECT_FALSE(Leaders::pay(/*oversubscribed=*/true, 64 << 10));
}

TEST(Cores, ThatRanksShareAreKnownAtAllRanks) {
  // All ranks of this job are on one host.
  EXPECT_EQ(process().any_crowded, process().crowded);
  EXPECT_EQ(process().crowded, size() > process().usable_cores);
}

}  // namespace
}  // namespace gex::coll
