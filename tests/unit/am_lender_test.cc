// Credits that are lent: never more than there are, to those that need them, and back.

#include "am/lender.h"

#include <gtest/gtest.h>

#include <vector>

#include "am/credits.h"
#include "base/random.h"
#include "net/kit/channel_buffers.h"

namespace gex::am {
namespace {

TEST(Division, GivesEachPeerAllWhereThereIsRoomForAll) {
  for (const std::uint32_t total : {0U, 64U, 100U}) {
    const Division all = divide(32, total, 2);
    EXPECT_EQ(all.share, 32u);
    EXPECT_EQ(all.max, 32u);
    EXPECT_EQ(all.bank, 0u);
  }
  EXPECT_EQ(divide(2, 1, 1000).bank, 0u) << "no place to ask for any";
  EXPECT_EQ(divide(8, 5, 0).share, 8u) << "a job of one rank";
}

TEST(Division, SharesHalfAndLendsTheRest) {
  for (const std::uint32_t depth : {3U, 8U, 32U, 1000U})
    for (const std::uint32_t peers : {1U, 2U, 7U, 127U, 1023U})
      for (const std::uint32_t total : {1U, 8U, 100U, 2048U}) {
        if (std::uint64_t{depth} * peers <= total) continue;
        const Division division = divide(depth, total, peers);
        EXPECT_GE(division.share, 1u);
        EXPECT_LE(division.share, division.max);
        EXPECT_EQ(division.max, depth - 2);
        if (total >= 2 * peers) {
          EXPECT_EQ(division.share * peers + division.bank, total);
        }
      }
}

TEST(Division, LeavesLivePeersAsMuchHoweverManyAreSilent) {
  for (const std::uint32_t ranks : {1'024U, 2'049U, 16'384U}) {
    const std::uint32_t total = net::total_channel_depth(ranks);
    const Division division = divide(net::channel_depth, total, ranks - 1);
    EXPECT_EQ(division.share, 1U) << "of a silent peer";
    EXPECT_GE(division.bank, 2'048U);
    Lender lender;
    lender.start(division, ranks);
    // The first request is the silent peer's one; who has more to send soon has all that one may.
    constexpr std::uint32_t live = 64;
    std::uint32_t steps = 0;
    for (std::uint32_t lent = division.share; lent < division.max; ++steps) {
      for (std::uint32_t peer = 0; peer < live; ++peer) EXPECT_TRUE(lender.lend(ranks - 1 - peer));
      lent += lender.take_unreported(ranks - 1);
    }
    EXPECT_EQ(steps, 5U);
    EXPECT_EQ(lender.bank(), division.bank - live * (division.max - division.share));
  }
}

class LenderTest : public testing::Test {
 protected:
  // Four peers with two each, ten at most, and nine more.
  LenderTest() { lender.start({.share = 2, .max = 10, .bank = 9}, 4); }
  Lender lender;
};

TEST_F(LenderTest, DoublesAsFarAsThereAreSome) {
  EXPECT_TRUE(lender.lend(1));
  EXPECT_TRUE(lender.has_unreported(1));
  EXPECT_FALSE(lender.has_unreported(2));
  EXPECT_EQ(lender.take_unreported(1), 2u);
  EXPECT_TRUE(lender.lend(1));
  EXPECT_EQ(lender.take_unreported(1), 4u);
  EXPECT_TRUE(lender.lend(1));
  EXPECT_EQ(lender.take_unreported(1), 2u) << "up to ten";
  EXPECT_TRUE(lender.lend(1)) << "it has all that it can have";
  EXPECT_EQ(lender.take_unreported(1), 0u);
  EXPECT_TRUE(lender.lend(2));
  EXPECT_FALSE(lender.lend(3)) << "nothing is left";
  EXPECT_EQ(lender.bank(), 0u);
}

TEST_F(LenderTest, AsksEachBorrowerInItsTurn) {
  EXPECT_EQ(lender.pick_reclaim_peer(0), Lender::no_peer);
  lender.lend(1);
  lender.lend(3);
  EXPECT_EQ(lender.pick_reclaim_peer(1), 3u);
  EXPECT_EQ(lender.pick_reclaim_peer(3), 1u);
  EXPECT_EQ(lender.pick_reclaim_peer(0), Lender::no_peer) << "both have been asked";
  lender.answered(3);
  EXPECT_EQ(lender.pick_reclaim_peer(0), 3u);
}

TEST_F(LenderTest, DoesNotAskWhoHasGivenAllBackOrWhoIsStarved) {
  lender.lend(1);
  lender.lend(2);
  EXPECT_TRUE(lender.accept(1, 2));
  EXPECT_EQ(lender.pick_reclaim_peer(2), Lender::no_peer);
  lender.lend(1);
  EXPECT_EQ(lender.pick_reclaim_peer(2), 1u);
  lender.answered(1);
  EXPECT_EQ(lender.pick_reclaim_peer(1), 2u);
}

TEST_F(LenderTest, GetsBackNoMoreThanItHasLent) {
  lender.lend(1);
  EXPECT_FALSE(lender.accept(2, 1));
  EXPECT_FALSE(lender.accept(1, 3));
  EXPECT_TRUE(lender.accept(1, 2));
  EXPECT_FALSE(lender.accept(1, 1));
  EXPECT_EQ(lender.bank(), 9u);
}

TEST_F(LenderTest, ReportsAgainWhatWasNotReported) {
  lender.lend(1);
  EXPECT_EQ(lender.take_unreported(1), 2u);
  lender.restore_unreported(1, 2);
  EXPECT_EQ(lender.take_unreported(1), 2u);
  lender.restore_unreported(1, Lender::max_per_message + 5);
  EXPECT_EQ(lender.take_unreported(1), Lender::max_per_message);
  EXPECT_EQ(lender.take_unreported(1), 5u);
}

// Both sides, with peers that come and go as chance has it: never are more under way than there are
// credits, and the rank that goes on asking gets most of them.
TEST(Loans, OfManyPeersStayWithinTheTotal) {
  constexpr std::uint32_t peers = 20, total = 100;
  const Division division = divide(32, total, peers);
  ASSERT_NE(division.bank, 0u);
  Lender lender;
  lender.start(division, peers);
  std::vector<Credits> credits(peers);
  for (Credits& each : credits) each.start(division.share, division.max);
  std::vector<std::uint32_t> out(peers);
  std::uint32_t all_out = 0;
  Random random(7, 1);
  const auto answer = [&](std::uint32_t peer) {
    ASSERT_NE(out[peer], 0u);
    ASSERT_TRUE(credits[peer].borrow(lender.take_unreported(peer)));
    credits[peer].restore();
    --out[peer];
    --all_out;
  };
  std::uint32_t max_of_one = 0;
  for (int step = 0; step < 200000; ++step) {
    // A few are busy at a time.
    const auto busy = static_cast<std::uint32_t>(step / 20000);
    const std::uint32_t peer =
        (busy + static_cast<std::uint32_t>(random.below(random.below(10) == 0 ? peers : 2))) %
        peers;
    if (random.below(3) != 0) {
      if (!credits[peer].take()) {
        answer(peer);
        continue;
      }
      ++out[peer];
      ++all_out;
      ASSERT_LE(all_out, total);
      ASSERT_LE(out[peer], division.max);
      max_of_one = std::max(max_of_one, out[peer]);
      if (!credits[peer].take_starved() || lender.lend(peer)) continue;
      const std::uint32_t asked = lender.pick_reclaim_peer(peer);
      if (asked == Lender::no_peer) continue;
      ASSERT_TRUE(lender.accept(asked, credits[asked].give_up_borrowed()));
      lender.answered(asked);
    } else if (out[peer] != 0) {
      answer(peer);
    }
  }
  EXPECT_GT(max_of_one, division.max / 2);
}

}  // namespace
}  // namespace gex::am
