// Sets of ranks as runs, and what is found among them by sets: compared with what is found by
// ranks.

#include "launch/hang/wait_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "launch/hang/hang_report.h"

namespace gex::launch {
namespace {

using Ranks = std::vector<std::uint32_t>;
using Draw = std::mt19937;

std::uint32_t below(Draw& draw, std::uint32_t limit) {
  return static_cast<std::uint32_t>(draw() % limit);
}

Ranks each_in(const RankRuns& ranks) {
  return first_of(ranks, SIZE_MAX);
}

RankRun run_of(std::uint32_t first, std::uint32_t count, std::uint32_t stride) {
  RankRun run;
  run.first = first;
  run.count = count;
  run.stride = stride;
  return run;
}

TEST(RankRuns, AreCutAsTheirRanksAre) {
  Draw draw(7);
  for (int i = 0; i < 2000; ++i) {
    RankRun one = run_of(below(draw, 40), 1 + below(draw, 12), 1 + below(draw, 6));
    one.peer = 100;
    one.peer_stride = static_cast<std::int32_t>(below(draw, 9)) - 4;
    const RankRun other = run_of(below(draw, 40), 1 + below(draw, 12), 1 + below(draw, 6));
    std::vector<RankRun> parts = rest_of(one, other);
    if (const auto common = common_of(one, other)) {
      for (const std::uint32_t rank : each_in(joined({*common})))
        EXPECT_TRUE(other.index_of(rank).has_value());
      parts.push_back(*common);
    }
    std::uint32_t ranks = 0;
    for (const RankRun& part : parts)
      for (std::uint32_t k = 0; k < part.count; ++k, ++ranks) {
        const auto index = one.index_of(part.rank(k));
        ASSERT_TRUE(index.has_value());
        EXPECT_EQ(part.peer_of(k), one.peer_of(*index));
        EXPECT_EQ(&part == &parts.back() && common_of(one, other).has_value(),
                  other.index_of(part.rank(k)).has_value());
      }
    ASSERT_EQ(ranks, one.count);
  }
}

TEST(RankRuns, AreUnitedWithoutRanksTwice) {
  Draw draw(8);
  for (int i = 0; i < 500; ++i) {
    std::set<std::uint32_t> expected;
    std::vector<RankRun> runs;
    for (std::uint32_t k = 0; k < 1 + below(draw, 6); ++k) {
      runs.push_back(run_of(below(draw, 60), 1 + below(draw, 15), 1 + below(draw, 5)));
      for (std::uint32_t at = 0; at < runs.back().count; ++at)
        expected.insert(runs.back().rank(at));
    }
    const RankRuns made = united(runs);
    EXPECT_EQ(made.count, expected.size());
    EXPECT_EQ(each_in(made), Ranks(expected.begin(), expected.end()));
  }
}

/// Waiters in such runs, for peers; other ranks do not wait.
Circles circles_of(std::vector<RankRun> runs) {
  WaitGraph graph;
  Waiters& waiters = graph.waiters.emplace_back();
  for (const RankRun& run : runs) waiters.ranks.count += run.count;
  waiters.ranks.runs = runs;
  waiters.for_peers = {std::move(runs)};
  return gex::launch::circles_of(graph);
}

constexpr std::uint32_t million = 1 << 20;

TEST(Circles, OfAMillionRanksAreFoundBySteps) {
  const Circles ring = circles_of({{0, million - 1, 1, 1, 1}, {million - 1, 1, 1, 0, 0}});
  ASSERT_EQ(ring.found.size(), 1U);
  EXPECT_EQ(ring.found[0].count, million);
  EXPECT_EQ(ring.found[0].runs.size(), 1U);
  EXPECT_TRUE(ring.not_followed.empty());
  // Against the order of ranks, and in four columns.
  const Circles columns = circles_of({{0, 4, 1, million - 4, 1}, {4, million - 4, 1, 0, 1}});
  ASSERT_EQ(columns.found.size(), 4U);
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(columns.found[i].count, million / 4);
    EXPECT_EQ(columns.found[i].runs, (std::vector<RankRun>{run_of(i, million / 4, 4)}));
  }
  // A chain has none, nor a star whose center does not wait.
  EXPECT_TRUE(circles_of({{0, million, 1, 1, 1}}).found.empty());
  EXPECT_TRUE(circles_of({{1, million, 1, 0, 0}}).found.empty());
}

TEST(Circles, OfPairsOfAMillionRanksAreExamplesAndTheRest) {
  const Circles pairs = circles_of({{0, million / 2, 2, 1, 2}, {1, million / 2, 2, 0, 2}});
  ASSERT_GE(pairs.found.size(), 4U);
  std::uint64_t followed = 0;
  for (const RankRuns& pair : pairs.found) {
    EXPECT_EQ(each_in(pair), (Ranks{pair.lowest(), pair.lowest() + 1}));
    followed += pair.count;
  }
  EXPECT_EQ(pairs.not_followed.count, million - followed);
}

TEST(Circles, LeaveOutAllThatIsNotFollowedHoweverScatteredTheRestIs) {
  constexpr std::uint32_t first = 100'000;
  constexpr std::uint32_t shift = 5000;
  constexpr std::uint32_t starts = 60;
  constexpr std::uint32_t steps = 64;
  // Pairs that wait for ranks of a long run, at square distances; that run's ranks for others of
  // it.
  std::vector<RankRun> runs;
  for (std::uint32_t i = 0; i < starts; i += 2)
    runs.push_back({10 * i, 2, 1, first + i * i, static_cast<std::int32_t>(2 * i + 1)});
  runs.push_back({first, million, 1, first + shift, 1});
  const Circles none = circles_of(runs);
  EXPECT_TRUE(none.found.empty());
  // A rank of a pair leads to one less of the long run than a start of that does; two of its four
  // starts are squares.
  constexpr std::uint32_t followed = starts * (steps - 1) + 2 * steps;
  static_assert(followed / 2 > RankRuns::max_runs);
  EXPECT_EQ(none.not_followed.count, million - followed);
}

TEST(Circles, ThroughACallAreOfAllThatHaveNotMadeIt) {
  // Rank 0 waits in a call that no other has made; each waits for the one below it.
  WaitGraph graph;
  graph.missing = {{1}};
  graph.waiters.resize(2);
  graph.waiters[0].ranks = only(0);
  graph.waiters[0].for_calls = {0};
  graph.waiters[1].ranks = joined({run_of(1, million - 1, 1)});
  graph.waiters[1].for_peers = {{{1, million - 1, 1, 0, 1}}};
  const Circles circles = gex::launch::circles_of(graph);
  ASSERT_EQ(circles.found.size(), 1U);
  EXPECT_EQ(circles.found[0].count, million);
}

/// A job in which ranks wait in some ways of chance, which many have in common.
std::vector<RankReport> job_of_chance(Draw& draw) {
  const std::uint32_t size = 2 + below(draw, 40);
  std::vector<std::uint32_t> ways;
  for (std::uint32_t i = 0; i < 1 + below(draw, 4); ++i) ways.push_back(below(draw, 8));
  const std::uint32_t shift = 1 + below(draw, 5);
  const std::uint32_t block = 1 + below(draw, size);
  std::vector<RankReport> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    RankReport& made = ranks.emplace_back();
    made.rank = rank;
    made.shown = true;
    made.state = 'S';
    TeamReport& team = made.teams.emplace_back();
    team.id = 7;
    team.size = size;
    ThreadReport& thread = made.threads.emplace_back();
    OpReport op;
    op.kind = job::OpKind::put;
    switch (ways[rank / block % ways.size()]) {
      case 0:
        break;
      case 1:
        op.peer = (rank + shift) % size;
        break;
      case 2:
        op.peer = (rank + size - shift % size) % size;
        break;
      case 3:
        op.peer = shift % size;
        break;
      case 4:
        op.peer = rank ^ 1U;
        break;
      case 5:
        op.peer = size - 1 - rank;
        break;
      case 6:
        op.kind = job::OpKind::barrier;
        op.team = 7;
        op.sequence = 1;
        team.barriers = 1;
        break;
      default:
        op.kind = job::OpKind::collective;
        op.team = 7;
        op.sequence = 1;
        team.collectives = 1;
        break;
    }
    if (op.peer || op.team != 0) thread.wait = op;
    if (below(draw, 30) == 0) made.state = 'T';
    if (below(draw, 10) == 0) {
      OpReport flight;
      flight.kind = job::OpKind::get;
      flight.peer = rank + shift;
      made.operations = {flight};
      thread.wait.reset();
      thread.condition_s = 1;
    }
  }
  return ranks;
}

Ranks all_of(const std::vector<HangReport::Deed>& deeds) {
  Ranks all;
  for (const HangReport::Deed& deed : deeds)
    for (const std::uint32_t rank : each_in(deed.ranks)) all.push_back(rank);
  std::ranges::sort(all);
  return all;
}

std::set<Ranks> all_of(const std::vector<RankRuns>& circles) {
  std::set<Ranks> all;
  for (const RankRuns& circle : circles) all.insert(each_in(circle));
  return all;
}

TEST(HangReport, OfClassesIsThatOfTheirRanks) {
  Draw draw(9);
  for (int i = 0; i < 600; ++i) {
    const std::vector<RankReport> ranks = job_of_chance(draw);
    const HangReport by_rank = analyse(each_alone(ranks));
    const HangReport by_class = analyse(classes_of(ranks));
    ASSERT_EQ(all_of(by_class.circles), all_of(by_rank.circles)) << i;
    ASSERT_EQ(all_of(by_class.culprits), all_of(by_rank.culprits)) << i;
    ASSERT_EQ(all_of(by_class.others), all_of(by_rank.others)) << i;
    EXPECT_TRUE(by_class.not_followed.empty());
    EXPECT_TRUE(by_rank.not_followed.empty());
    std::set<std::uint32_t> waiting[2];
    for (const HangReport* const report : {&by_rank, &by_class})
      for (const RankWait& wait : report->waits)
        for (const std::uint32_t rank : each_in(wait.ranks))
          waiting[report == &by_rank ? 0 : 1].insert(rank);
    ASSERT_EQ(waiting[0], waiting[1]);
  }
}

}  // namespace
}  // namespace gex::launch
