// Values of operations by leaders that are kept, and when and which members are asked for them.

#include "coll/known.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace gex::coll {
namespace {

using Bytes = std::vector<std::byte>;

Bytes known_bytes(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(KnownValues, AreThoseOfTheLastOperations) {
  KnownValues results;
  EXPECT_TRUE(results.of(0).empty());
  const std::array<std::byte, 2> value{std::byte{1}, std::byte{2}};
  const std::array<std::byte, 1> other{std::byte{3}};
  // Across the end of what the numbers count to.
  const std::uint32_t first = 0U - KnownValues::kept / 2;
  for (std::uint32_t i = 0; i < KnownValues::kept; ++i) results.keep(first + i, value);
  for (std::uint32_t i = 0; i < KnownValues::kept; ++i)
    EXPECT_EQ(known_bytes(results.of(first + i)), Bytes(value.begin(), value.end()));
  // One that comes twice or late changes nothing.
  results.keep(first + KnownValues::kept, other);
  results.keep(first + KnownValues::kept, value);
  results.keep(first, value);
  EXPECT_EQ(known_bytes(results.of(first + KnownValues::kept)), Bytes(other.begin(), other.end()));
  EXPECT_TRUE(results.of(first).empty());
}

TEST(Answers, AreTheLastOfEachOperation) {
  Answers answers;
  EXPECT_FALSE(answers.has(0, 0));
  answers.note(0, 3);
  answers.note(1, 4);
  EXPECT_TRUE(answers.has(0, 3));
  EXPECT_FALSE(answers.has(0, 4));
  EXPECT_FALSE(answers.has(KnownValues::kept, 3));
  answers.forget(0);
  EXPECT_FALSE(answers.has(0, 3));
  EXPECT_TRUE(answers.has(1, 4));
}

constexpr std::uint64_t nap = 100;

/// The ticks, of one ns each, at which it is time for some questions.
std::vector<Tick> times(Asking& asking, Tick from, std::size_t count) {
  std::vector<Tick> due;
  for (Tick now = from; due.size() < count; ++now) {
    if (!asking.is_due(now, nap, [](Tick ticks) { return ticks; })) continue;
    due.push_back(now);
    asking.pass();
  }
  return due;
}

TEST(Asking, PausesLongerEachTime) {
  Asking asking;
  EXPECT_EQ(times(asking, 1000, 4), (std::vector<Tick>{1200, 1400, 1800, 2400}));
  EXPECT_EQ(asking.turn(), 4U);
}

TEST(Asking, IsLeftToAMemberThatAnswers) {
  Asking asking;
  EXPECT_EQ(times(asking, 1000, 1), (std::vector<Tick>{1200}));
  asking.begin_again();
  EXPECT_EQ(asking.turn(), 0U);
  EXPECT_EQ(times(asking, 1201, 1), (std::vector<Tick>{1600}));
  // However often it answers, it is asked again.
  for (int i = 0; i < 100; ++i) asking.begin_again();
  EXPECT_EQ(times(asking, 1601, 1), (std::vector<Tick>{1600 + 8 * 2 * nap}));
}

TEST(Asking, OfABroadcastReachesAllOfTheNeighborhoodBeforeAndOfTheRoots) {
  // Four neighborhoods of three ranks, dealt in turn; rank 5 of the third is the root.
  std::vector<std::uint32_t> neighborhood_of;
  for (std::uint32_t rank = 0; rank < 12; ++rank) neighborhood_of.push_back(rank % 4);
  const Groups groups(neighborhood_of);
  constexpr gex_Rank_t root = 5;
  for (const gex_Rank_t leader : {0U, 2U, 3U}) {
    Plan plan;
    plan_broadcast(plan, groups, root, leader, Trees::between);
    const std::uint32_t source_group = groups.group_of(plan.result_sender);
    std::set<gex_Rank_t> asked;
    for (unsigned turn = 1; turn <= 2; ++turn)
      for (const gex_Rank_t member : asked_for_broadcast(groups, root, leader, turn))
        asked.insert(member);
    EXPECT_EQ(asked_for_broadcast(groups, root, leader, 1)[0], plan.result_sender);
    std::set<gex_Rank_t> expected;
    for (gex_Rank_t rank = 0; rank < 12; ++rank)
      if (groups.group_of(rank) == source_group || groups.group_of(rank) == groups.group_of(root))
        expected.insert(rank);
    EXPECT_EQ(asked, expected);
  }
}

TEST(GatheredOperands, AreOfTheOldestOperation) {
  GatheredOperands gathered;
  const std::array<std::byte, 3> one{std::byte{1}, std::byte{2}, std::byte{3}};
  gathered.keep(7, 0, one);
  EXPECT_FALSE(gathered.has_all(7));
  ASSERT_TRUE(gathered.begin(7, 2, one.size()));
  EXPECT_TRUE(gathered.begin(7, 2, one.size()));
  EXPECT_FALSE(gathered.begin(8, 2, one.size()));
  gathered.keep(7, 1, one);
  gathered.keep(7, 1, one);
  gathered.keep(8, 0, one);
  EXPECT_FALSE(gathered.has(0));
  EXPECT_FALSE(gathered.has_all(7));
  // An older one takes its place, and then it begins again.
  ASSERT_TRUE(gathered.begin(6, 1, one.size()));
  gathered.keep(6, 0, one);
  EXPECT_TRUE(gathered.has_all(6));
  gathered.end(6);
  EXPECT_FALSE(gathered.has_all(6));
  ASSERT_TRUE(gathered.begin(7, 2, one.size()));
  gathered.keep(7, 0, one);
  gathered.keep(7, 1, one);
  EXPECT_TRUE(gathered.has_all(7));
  EXPECT_EQ(known_bytes({gathered.of(1), one.size()}), Bytes(one.begin(), one.end()));
}

const std::byte* bytes_at(const double& value) {
  return reinterpret_cast<const std::byte*>(&value);
}

/// Sums depend on the order, bit by bit.
TEST(QuickOrder, IsThatOfTheMessages) {
  Reduction sum;
  sum.builtin = builtin_of(GEX_DT_DBL, GEX_OP_ADD);
  sum.element = sizeof(double);
  for (std::uint32_t count = 2; count <= max_gathered; ++count) {
    std::vector<double> operands;
    std::vector<std::uint32_t> apart;
    for (std::uint32_t i = 0; i < count; ++i) {
      operands.push_back(std::ldexp(1.0 + i, static_cast<int>(i * 37 % 100)));
      apart.push_back(i);
    }
    const Groups groups(apart);
    std::vector<Plan> plans(count);
    for (std::uint32_t i = 0; i < count; ++i)
      plan_quick_reduce_to_all(plans[i], groups, i, /*ordered=*/true, Trees::between);
    const QuickOrder order(count);
    const auto operand = [&](std::uint32_t i) { return bytes_at(operands[i]); };
    std::vector<double> made = operands;
    for (std::uint32_t i = 0; i < count; ++i)
      for (const gex_Rank_t from : plans[i].contributors) made[i] += operands[from];
    for (std::size_t round = 0; round < plans[0].rounds.size(); ++round) {
      std::vector<double> next = made;
      for (std::uint32_t i = 0; i < count; ++i) {
        if (plans[i].rounds.empty()) continue;
        const auto [partner, is_left] = plans[i].rounds[round];
        alignas(16) double sent = 0;
        order.combine(partner, static_cast<unsigned>(round), sum, sizeof sent, operand,
                      reinterpret_cast<std::byte*>(&sent));
        ASSERT_EQ(sent, made[partner]) << count << " neighborhoods, round " << round;
        next[i] = is_left ? made[partner] + made[i] : made[i] + made[partner];
      }
      made = next;
    }
    alignas(16) double result = 0;
    order.make_result(sum, sizeof result, operand, reinterpret_cast<std::byte*>(&result));
    for (std::uint32_t i = 0; i < count; ++i)
      if (plans[i].makes_result) {
        ASSERT_EQ(made[i], result);
      }
  }
}

}  // namespace
}  // namespace gex::coll
