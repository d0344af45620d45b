// The plans of collective operations, carried out in one process on words: an operand is the name
// of its rank, to combine is to join, and the result shows what was combined in which order.

#include "coll/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gex::coll {
namespace {

using Layout = std::vector<std::uint32_t>;

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  std::mt19937 random(5);
  for (gex_Rank_t size = 1; size <= 33; ++size) {
    all.push_back(Layout(size, 7));
    Layout apart(size), halves(size), cyclic(size), scattered(size);
    for (gex_Rank_t rank = 0; rank < size; ++rank) {
      apart[rank] = rank;
      halves[rank] = rank < size / 3 ? 1 : 0;
      cyclic[rank] = rank % 4;
      scattered[rank] = static_cast<std::uint32_t>(random() % 5);
    }
    all.insert(all.end(), {apart, halves, cyclic, scattered});
  }
  return all;
}

std::string name_of(gex_Rank_t rank) {
  return "," + std::to_string(rank);
}
std::string all_in_order(gex_Rank_t size) {
  std::string all;
  for (gex_Rank_t rank = 0; rank < size; ++rank) all += name_of(rank);
  return all;
}
/// The ranks in a word, sorted: one that was combined twice is there twice.
std::vector<gex_Rank_t> ranks_in(const std::string& word) {
  std::vector<gex_Rank_t> ranks;
  for (std::size_t at = 0; at < word.size(); at = word.find(',', at + 1)) {
    if (at == std::string::npos) break;
    ranks.push_back(static_cast<gex_Rank_t>(std::stoul(word.substr(at + 1))));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}
std::vector<gex_Rank_t> each_once(gex_Rank_t size) {
  std::vector<gex_Rank_t> ranks(size);
  for (gex_Rank_t rank = 0; rank < size; ++rank) ranks[rank] = rank;
  return ranks;
}

/// Carries plans out: each member goes on when what it waits for has been sent.
class Team {
 public:
  explicit Team(std::vector<Plan> plans) : plans_(std::move(plans)), members_(plans_.size()) {}

  /// `combines`: a reduction; else rank `root` has the result from the start.
  void run(bool combines, gex_Rank_t root = 0) {
    for (gex_Rank_t rank = 0; rank < plans_.size(); ++rank) {
      members_[rank].partial = name_of(rank);
      if (!combines) members_[rank].stage = done_combining;
      if (!combines && rank == root) have_result(rank, "root");
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (gex_Rank_t rank = 0; rank < plans_.size(); ++rank) progress |= step(rank);
    }
    EXPECT_TRUE(operands_.empty()) << "an operand no rank waits for";
    EXPECT_TRUE(rounds_.empty());
    EXPECT_TRUE(results_.empty());
    for (gex_Rank_t rank = 0; rank < plans_.size(); ++rank)
      EXPECT_EQ(members_[rank].stage, done_combining) << "rank " << rank << " waits for ever";
  }

  const std::string& result(gex_Rank_t rank) const { return members_[rank].result; }
  unsigned messages() const { return messages_; }

 private:
  static constexpr std::size_t done_combining = ~std::size_t{0};
  using Route = std::pair<gex_Rank_t, gex_Rank_t>;

  struct Member {
    std::string partial;
    std::string result;
    std::size_t stage = 0;  ///< contributors combined, then rounds passed
    std::size_t sent_rounds = 0;
  };

  void send(std::map<Route, std::string>& way, gex_Rank_t from, gex_Rank_t to,
            const std::string& word) {
    ++messages_;
    EXPECT_TRUE(way.emplace(Route{from, to}, word).second) << from << " sends twice to " << to;
  }
  bool receive(std::map<Route, std::string>& way, gex_Rank_t from, gex_Rank_t to,
               std::string& word) {
    const auto found = way.find({from, to});
    if (found == way.end()) return false;
    word = found->second;
    way.erase(found);
    return true;
  }
  void have_result(gex_Rank_t rank, const std::string& word) {
    EXPECT_EQ(members_[rank].result, "") << "rank " << rank << " gets two results";
    members_[rank].result = word;
    for (const gex_Rank_t to : plans_[rank].receivers) send(results_, rank, to, word);
  }

  bool step(gex_Rank_t rank) {
    const Plan& plan = plans_[rank];
    Member& member = members_[rank];
    std::string word;
    if (plan.result_sender != GEX_RANK_INVALID &&
        receive(results_, plan.result_sender, rank, word)) {
      have_result(rank, word);
      return true;
    }
    if (member.stage == done_combining) return false;
    if (member.stage < plan.contributors.size()) {
      if (!receive(operands_, plan.contributors[member.stage], rank, word)) return false;
      member.partial += word;
      ++member.stage;
      return true;
    }
    const std::size_t round = member.stage - plan.contributors.size();
    if (round < plan.rounds.size()) {
      const auto [partner, is_left] = plan.rounds[round];
      if (member.sent_rounds == round) {
        send(rounds_, rank, partner, member.partial);
        ++member.sent_rounds;
      }
      if (!receive(rounds_, partner, rank, word)) return false;
      member.partial = is_left ? word + member.partial : member.partial + word;
      ++member.stage;
      return true;
    }
    member.stage = done_combining;
    if (plan.collector != GEX_RANK_INVALID)
      send(plan.collector_gets_result ? results_ : operands_, rank, plan.collector, member.partial);
    if (plan.makes_result) have_result(rank, member.partial);
    return true;
  }

  std::vector<Plan> plans_;
  std::vector<Member> members_;
  std::map<Route, std::string> operands_, rounds_, results_;
  unsigned messages_ = 0;
};

template <class Make>
std::vector<Plan> plans(gex_Rank_t size, Make make) {
  std::vector<Plan> all(size);
  for (gex_Rank_t rank = 0; rank < size; ++rank) make(all[rank], rank);
  return all;
}

TEST(Plan, BroadcastReachesAllRanksOnce) {
  for (const Layout& layout : layouts()) {
    const Groups groups(layout);
    const gex_Rank_t size = groups.size();
    for (gex_Rank_t root = 0; root < size; ++root) {
      Team team(
          plans(size, [&](Plan& plan, gex_Rank_t me) { plan_broadcast(plan, groups, root, me); }));
      team.run(false, root);
      for (gex_Rank_t rank = 0; rank < size; ++rank) ASSERT_EQ(team.result(rank), "root");
      ASSERT_EQ(team.messages(), size - 1);
    }
  }
}

TEST(Plan, BroadcastEntersEachNeighborhoodOnce) {
  for (const Layout& layout : layouts()) {
    const Groups groups(layout);
    for (gex_Rank_t root = 0; root < groups.size(); ++root) {
      unsigned crossings = 0;
      for (gex_Rank_t me = 0; me < groups.size(); ++me) {
        Plan plan;
        plan_broadcast(plan, groups, root, me);
        crossings += plan.result_sender != GEX_RANK_INVALID &&
                     groups.group_of(plan.result_sender) != groups.group_of(me);
      }
      ASSERT_EQ(crossings, groups.count() - 1);
    }
  }
}

TEST(Plan, ReductionToOneTakesAllRanksOnce) {
  for (const Layout& layout : layouts()) {
    const Groups groups(layout);
    const gex_Rank_t size = groups.size();
    for (gex_Rank_t root = 0; root < size; ++root) {
      for (const bool ordered : {false, true}) {
        Team team(plans(size, [&](Plan& plan, gex_Rank_t me) {
          plan_reduce_to_one(plan, groups, root, me, ordered);
        }));
        team.run(true);
        for (gex_Rank_t rank = 0; rank < size; ++rank) {
          if (rank != root) {
            ASSERT_EQ(team.result(rank), "");
          } else if (ordered) {
            ASSERT_EQ(team.result(rank), all_in_order(size));
          } else {
            ASSERT_EQ(ranks_in(team.result(rank)), each_once(size));
          }
        }
        ASSERT_EQ(team.messages(), size - 1 + (ordered && root != 0 ? 1 : 0));
      }
    }
  }
}

using MakePlan = void (*)(Plan&, const Groups&, gex_Rank_t, bool, Trees);
class PlanToAll : public testing::TestWithParam<MakePlan> {};
INSTANTIATE_TEST_SUITE_P(Both, PlanToAll,
                         testing::Values(plan_reduce_to_all, plan_quick_reduce_to_all));

TEST_P(PlanToAll, GivesAllRanksEqualResults) {
  for (const Layout& layout : layouts()) {
    const Groups groups(layout);
    const gex_Rank_t size = groups.size();
    for (const bool ordered : {false, true}) {
      Team team(plans(size, [&](Plan& plan, gex_Rank_t me) {
        GetParam()(plan, groups, me, ordered, Trees::both);
      }));
      team.run(true);
      for (gex_Rank_t rank = 0; rank < size; ++rank) ASSERT_EQ(team.result(rank), team.result(0));
      if (ordered)
        ASSERT_EQ(team.result(0), all_in_order(size));
      else
        ASSERT_EQ(ranks_in(team.result(0)), each_once(size));
    }
  }
}

TEST(Plan, QuickReductionTakesLogarithmicallyManyRounds) {
  for (gex_Rank_t size = 1; size <= 70; ++size) {
    Layout apart(size);
    for (gex_Rank_t rank = 0; rank < size; ++rank) apart[rank] = rank;
    const Groups groups(apart);
    for (gex_Rank_t me = 0; me < size; ++me) {
      Plan plan;
      plan_quick_reduce_to_all(plan, groups, me, false);
      ASSERT_LE(plan.rounds.size(), std::bit_width(size) - 1U);
      ASSERT_LE(plan.contributors.size(), 1U);
    }
  }
}

TEST(Groups, ThatAreRunsOfRanksTakeAnEntryEachAndOthersEightBytesAMember) {
  constexpr gex_Rank_t ranks = 16'384;
  constexpr gex_Rank_t hosts = 128;
  Layout by_block(ranks);
  Layout cyclic(ranks);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    by_block[rank] = rank / (ranks / hosts);
    cyclic[rank] = rank % hosts;
  }
  const Groups runs(by_block);
  const Groups others(cyclic);
  EXPECT_EQ(runs.bytes(), 4 * (hosts + 1));
  EXPECT_EQ(others.bytes(), 4 * (hosts + 1) + 8 * ranks);
  EXPECT_TRUE(runs.in_rank_order());
  EXPECT_FALSE(others.in_rank_order());
  for (const Groups* groups : {&runs, &others}) {
    ASSERT_EQ(groups->count(), hosts);
    ASSERT_EQ(groups->size(), ranks);
    for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t group = groups->group_of(rank);
      ASSERT_EQ(group, (groups == &runs ? by_block : cyclic)[rank]);
      ASSERT_EQ(groups->members(group).size(), ranks / hosts);
      ASSERT_EQ(groups->members(group)[groups->position_of(rank)], rank);
    }
  }
}

/// In each neighborhood the root, or else the lowest.
std::vector<gex_Rank_t> leaders_of(const Groups& groups, gex_Rank_t root) {
  std::vector<gex_Rank_t> leaders;
  for (std::uint32_t group = 0; group < groups.count(); ++group)
    leaders.push_back(groups.group_of(root) == group ? root : groups.members(group)[0]);
  std::sort(leaders.begin(), leaders.end());
  return leaders;
}

/// Each leader's operand stands for what its neighborhood has combined.
void expect_between(const Groups& groups, gex_Rank_t root) {
  const gex_Rank_t size = groups.size();
  const auto made = [&](auto make) { return plans(size, make); };
  Team broadcast(made(
      [&](Plan& plan, gex_Rank_t me) { plan_broadcast(plan, groups, root, me, Trees::between); }));
  broadcast.run(false, root);
  EXPECT_EQ(broadcast.messages(), groups.count() - 1);
  Team to_one(made([&](Plan& plan, gex_Rank_t me) {
    plan_reduce_to_one(plan, groups, root, me, false, Trees::between);
  }));
  to_one.run(true);
  EXPECT_EQ(to_one.messages(), groups.count() - 1);
  EXPECT_EQ(ranks_in(to_one.result(root)), leaders_of(groups, root));
  Team to_all(made([&](Plan& plan, gex_Rank_t me) {
    plan_quick_reduce_to_all(plan, groups, me, false, Trees::between);
  }));
  to_all.run(true);
  for (const gex_Rank_t leader : leaders_of(groups, 0))
    EXPECT_EQ(ranks_in(to_all.result(leader)), leaders_of(groups, 0));
  for (const gex_Rank_t leader : leaders_of(groups, root))
    EXPECT_EQ(broadcast.result(leader), "root");
  for (gex_Rank_t rank = 0; rank < size; ++rank)
    EXPECT_EQ(broadcast.result(rank) != "",
              std::ranges::count(leaders_of(groups, root), rank) != 0);
}

TEST(Plan, BetweenNeighborhoodsOnlyLeadersTakePart) {
  for (const Layout& layout : layouts()) {
    const Groups groups(layout);
    expect_between(groups, 0);
    expect_between(groups, groups.size() / 2);
  }
}

TEST(Plan, BetweenAnOrderedResultIsSentToTheRoot) {
  const Groups groups({3, 3, 3, 1, 1, 2});
  for (gex_Rank_t root = 0; root < groups.size(); ++root) {
    Team team(plans(groups.size(), [&](Plan& plan, gex_Rank_t me) {
      plan_reduce_to_one(plan, groups, root, me, true, Trees::between);
    }));
    // Members that have no part are not carried out, but for the root.
    team.run(true);
    EXPECT_EQ(team.result(root), ",0,3,5");
  }
}

TEST(Plan, TakesAMillionRanksAFewMessagesAHost) {
  constexpr gex_Rank_t per_host = 128;
  for (const auto& [size, depth] : {std::pair{65'536U, 9U}, {1'048'576U, 13U}}) {
    Layout layout(size);
    for (gex_Rank_t rank = 0; rank < size; ++rank) layout[rank] = rank / per_host;
    const Groups groups(layout);
    std::uint64_t messages = 0;
    std::size_t max_sent = 0;
    std::vector<std::uint8_t> steps(groups.count());
    for (gex_Rank_t me = 0; me < size; ++me) {
      Plan plan;
      plan_broadcast(plan, groups, 0, me, Trees::between);
      messages += plan.receivers.size();
      max_sent = std::max(max_sent, plan.receivers.size());
      for (const gex_Rank_t to : plan.receivers)
        steps[groups.group_of(to)] = static_cast<std::uint8_t>(steps[groups.group_of(me)] + 1);
      plan_quick_reduce_to_all(plan, groups, me, false, Trees::between);
      ASSERT_EQ(plan.rounds.size(), me % per_host == 0 ? depth : 0U);
      ASSERT_TRUE(plan.contributors.empty() && plan.receivers.empty());
    }
    EXPECT_EQ(messages, groups.count() - 1);
    EXPECT_EQ(max_sent, depth);
    EXPECT_EQ(*std::ranges::max_element(steps), depth);
  }
}

TEST(Groups, RecogniseRunsOfRanks) {
  EXPECT_TRUE(Groups({4, 4, 1, 1, 9}).in_rank_order());
  EXPECT_TRUE(Groups({3}).in_rank_order());
  EXPECT_FALSE(Groups({0, 1, 0}).in_rank_order());
  EXPECT_FALSE(Groups({0, 1, 2, 1}).in_rank_order());
}

}  // namespace
}  // namespace gex::coll
