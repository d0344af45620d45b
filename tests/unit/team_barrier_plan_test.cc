// Barriers as plans, for as many ranks as there will ever be: who sends how much, and that all have
// arrived when a member finds so.

#include "team/barrier_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "job/limits.h"
#include "shm/barrier_stage.h"

namespace gex::team {
namespace {

BarrierPlan plan_of(std::uint32_t own, const std::vector<std::uint32_t>& neighborhoods) {
  const auto size = static_cast<std::uint32_t>(neighborhoods.size());
  return BarrierPlan::of(
      size, own, size, size, [](std::uint32_t member) { return member; },
      [&](std::uint32_t process) { return neighborhoods[process]; });
}

TEST(BarrierPlan, FollowsWhereMembersAre) {
  const BarrierPlan near = plan_of(1, {0, 0, 0});
  EXPECT_EQ(near.shape, BarrierShape::flags);
  EXPECT_EQ(near.near, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(plan_of(0, {0, 1, 2}).shape, BarrierShape::messages);
  EXPECT_EQ(plan_of(0, {0}).shape, BarrierShape::messages);
  const BarrierPlan both = plan_of(3, {4, 2, 4, 2, 1});
  EXPECT_EQ(both.shape, BarrierShape::leaders);
  EXPECT_EQ(both.leaders, (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(both.near, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(both.has_flag, (std::vector<bool>{true, true, true, true, false}));
}

TEST(BarrierPlan, ProcessesWithSeveralMembersSendMessages) {
  const BarrierPlan plan = BarrierPlan::of(
      3, 0, 2, 2, [](std::uint32_t member) { return member / 2; },
      [](std::uint32_t process) { return process; });
  EXPECT_EQ(plan.shape, BarrierShape::messages);
  EXPECT_EQ(std::ranges::count(plan.has_flag, true), 0);
}

/// A machine of dissemination for each of `count` leaders, with messages that arrive in an order of
/// chance. Those leaders arrive late that `is_late`; then no other may be done before.
void expect_barrier_among(std::uint32_t count, std::uint32_t late, std::uint32_t seed) {
  const Dissemination all{count};
  const unsigned rounds = all.rounds();
  struct Leader {
    bool arrived = false;
    unsigned passed = 0;         ///< rounds
    std::uint32_t received = 0;  ///< bits: messages of rounds
  };
  struct Message {
    std::uint32_t to;
    unsigned round;
  };
  std::vector<Leader> leaders(count);
  std::vector<Message> under_way;
  std::uint64_t sent = 0;
  std::uint32_t done = 0;
  const auto advance = [&](std::uint32_t self) {
    Leader& leader = leaders[self];
    while (leader.arrived && leader.passed < rounds &&
           (leader.received >> leader.passed & 1) != 0) {
      if (++leader.passed == rounds)
        ++done;
      else {
        under_way.push_back({all.to(self, leader.passed), leader.passed});
        ++sent;
      }
    }
  };
  const auto arrive = [&](std::uint32_t self) {
    leaders[self].arrived = true;
    under_way.push_back({all.to(self, 0), 0});
    ++sent;
    advance(self);
  };
  std::minstd_rand random(seed);
  const auto deliver_all = [&] {
    while (!under_way.empty()) {
      std::swap(under_way[random() % under_way.size()], under_way.back());
      const Message message = under_way.back();
      under_way.pop_back();
      EXPECT_EQ(all.to(all.from(message.to, message.round), message.round), message.to);
      leaders[message.to].received |= 1U << message.round;
      advance(message.to);
    }
  };
  for (std::uint32_t self = 0; self < count; ++self)
    if (self != late) arrive(self);
  deliver_all();
  EXPECT_EQ(done, 0U) << "before leader " << late << " of " << count;
  arrive(late);
  deliver_all();
  EXPECT_EQ(done, count);
  EXPECT_EQ(sent, std::uint64_t{count} * rounds);
}

TEST(BarrierPlan, LeadersAreDoneOnceAllHaveArrivedInAnyOrderOfMessages) {
  for (std::uint32_t count = 2; count <= 40; ++count)
    for (std::uint32_t late = 0; late < count; ++late) expect_barrier_among(count, late, late + 1);
}

TEST(BarrierPlan, TakesAMillionRanksThirteenMessagesAHost) {
  constexpr std::uint32_t per_host = 128;
  for (const auto& [ranks, messages] : {std::pair{65'536U, 9U}, {1'048'576U, 13U}}) {
    const auto host_of = [](std::uint32_t process) { return process / per_host; };
    const auto itself = [](std::uint32_t member) { return member; };
    const std::uint32_t own = ranks - 3;
    const BarrierPlan plan = BarrierPlan::of(ranks, own, ranks / per_host, ranks, itself, host_of);
    ASSERT_EQ(plan.shape, BarrierShape::leaders);
    EXPECT_EQ(plan.leaders.size(), ranks / per_host);
    EXPECT_EQ(plan.near.size(), per_host);
    EXPECT_EQ(plan.near.front(), own / per_host * per_host);
    EXPECT_EQ(Dissemination{ranks / per_host}.rounds(), messages);
    expect_barrier_among(ranks / per_host, 5, 1);
  }
}

TEST(BarrierPlan, TheLargestJobHasAsManyRoundsAsThereIsRoomFor) {
  // Each rank but one pair is alone in its neighborhood.
  const Dissemination all{job::max_ranks - 1};
  EXPECT_EQ(all.rounds(), shm::max_barrier_rounds);
  EXPECT_EQ(job::max_ranks, 1U << shm::max_barrier_rounds);
}

}  // namespace
}  // namespace gex::team
