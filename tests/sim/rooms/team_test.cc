// Exchanges among members, and the numbers of barriers.

#include <cstddef>
#include <span>
#include <vector>

#include "conformance.h"
#include "message.h"
#include "team/barrier.h"
#include "team/exchange.h"

namespace gex::team {
namespace {

using conformance::rank;
using conformance::size;

Team& whole() {
  return Team::from(conformance::team());
}

std::vector<std::byte> block_of(gex_Rank_t member, std::size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(member + 1));
}

TEST(TeamExchange, HandsOutBlocksOfAllSizesInRankOrder) {
  // The whole is nothing, a part of a message, and several messages over a network.
  for (const std::size_t each : {std::size_t{0}, std::size_t{10}, std::size_t{20'000}}) {
    const std::vector<std::byte> mine = block_of(rank(), each * rank());
    const Blocks blocks = team::exchange(whole(), mine);
    ASSERT_EQ(blocks.size(), size());
    for (gex_Rank_t member = 0; member < size(); ++member)
      EXPECT_TRUE(std::ranges::equal(blocks[member], block_of(member, each * member)))
          << "of rank " << member;
  }
  EXPECT_EQ(whole().exchanges.begun, whole().exchanges.over);
}

conformance::Count asked_in;
void receive_question(gex_Token_t) {
  ++asked_in;
}
conformance::Handlers handlers({
    conformance::entry(receive_question, conformance::short_request, 0, "rooms: not done"),
});

TEST(TeamBarriers, AreDoneInTheirOrderOnceTheLastMemberHasArrived) {
  const gex_Rank_t last = size() - 1;
  asked_in.reset();
  conformance::barrier();
  TeamBarrier& calls = barrier_of(whole());
  const std::uint32_t first = calls.started() + 1;
  // The last member arrives when all others have found that it has not.
  if (rank() == last) WAIT_UNTIL(asked_in.get() == static_cast<long>(last));
  gex_Event_t events[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    events[i] = gex_Coll_BarrierNB(conformance::team(), 0);
    EXPECT_EQ(calls.started(), first + i);
  }
  if (rank() != last) {
    gasnet_AMPoll();
    EXPECT_FALSE(calls.done(first));
    EXPECT_FALSE(calls.done(first + 2));
    gex_AM_RequestShort0(conformance::team(), last, handlers[0], 0);
  }
  gex_Event_Wait(events[2]);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(calls.done(first + i));
  for (gex_Event_t event : std::span(events).first(2)) EXPECT_EQ(gex_Event_Test(event), GASNET_OK);
  EXPECT_FALSE(calls.done(first + 3));
}

}  // namespace
}  // namespace gex::team
