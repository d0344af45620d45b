// How many eager flows a member may have sent to another that the other has not used.

#include "coll/credits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace gex::coll {
namespace {

using Sent = std::vector<std::pair<gex_Rank_t, std::uint32_t>>;

TEST(Credits, BoundTheFlowsThatAreNotAcknowledged) {
  Credits credits;
  constexpr gex_Rank_t peer = 3;
  for (std::int32_t i = 0; i < Credits::max_unused; ++i)
    EXPECT_TRUE(credits.may_send(peer, credits.take_ticket(peer)));
  const std::uint32_t next = credits.take_ticket(peer);
  EXPECT_FALSE(credits.may_send(peer, next));
  EXPECT_TRUE(credits.acknowledge(peer, 1));
  EXPECT_TRUE(credits.may_send(peer, next));
  // Each member has its own.
  EXPECT_TRUE(credits.may_send(peer + 1, credits.take_ticket(peer + 1)));
}

TEST(Credits, RefuseAnAcknowledgementOfMoreThanWasSent) {
  Credits credits;
  credits.take_ticket(0);
  credits.take_ticket(0);
  EXPECT_TRUE(credits.acknowledge(0, 2));
  EXPECT_FALSE(credits.acknowledge(0, 1));
  EXPECT_FALSE(credits.acknowledge(1, 1));
}

TEST(Credits, AreDueAfterSoManyFlowsAndUntilTheyAreSent) {
  Credits credits;
  Sent sent;
  bool has_room = false;
  const auto send = [&](gex_Rank_t member, std::uint32_t count) {
    if (has_room) sent.emplace_back(member, count);
    return has_room;
  };
  for (std::uint32_t i = 1; i < Credits::credit_at; ++i) credits.count_used(5);
  EXPECT_FALSE(credits.are_due());
  credits.count_used(5);
  EXPECT_TRUE(credits.are_due());
  EXPECT_FALSE(credits.send_due(send));
  credits.count_used(5);
  has_room = true;
  EXPECT_TRUE(credits.send_due(send));
  EXPECT_EQ(sent, (Sent{{5, Credits::credit_at + 1}}));
  EXPECT_FALSE(credits.are_due());
  EXPECT_FALSE(credits.send_due(send));
}

}  // namespace
}  // namespace gex::coll
