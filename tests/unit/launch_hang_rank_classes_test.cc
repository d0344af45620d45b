// Classes of ranks that do the same: which ranks are of one, that merging in trees loses none, and
// how large they are of many ranks.

#include "launch/hang/rank_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gex::launch {
namespace {

RankReport member(std::uint32_t rank, std::uint32_t barriers) {
  RankReport made;
  made.rank = rank;
  made.process = static_cast<std::int32_t>(1000 + rank);
  made.host = "host" + std::to_string(rank / 128);
  made.state = 'R';
  made.shown = true;
  made.cpu_s = 1 + rank * 1e-6;
  TeamReport team;
  team.id = 7;
  team.rank = rank;
  team.barriers = barriers;
  made.teams = {team};
  ThreadReport thread;
  thread.number = 1;
  thread.kernel_thread = made.process;
  thread.backtrace = "0x7f00" + std::to_string(10 + rank % 90) + " in main\n";
  made.threads = {thread};
  return made;
}

RankReport waiting(RankReport rank, std::optional<std::uint32_t> peer = {}) {
  OpReport op;
  op.kind = peer ? job::OpKind::put : job::OpKind::barrier;
  op.peer = peer;
  op.team = peer ? 0 : 7;
  op.sequence = peer ? 0 : 3;
  op.age_s = 10 + rank.rank * 1e-6;
  rank.threads[0].wait = op;
  return rank;
}

/// Merges what hosts have in a tree of this fan.
RankClasses merged(std::vector<RankClasses> of_hosts, std::size_t fan) {
  while (of_hosts.size() > 1) {
    std::vector<RankClasses> above((of_hosts.size() + fan - 1) / fan);
    for (std::size_t i = 0; i < of_hosts.size(); ++i)
      above[i / fan] = merge(std::move(above[i / fan]), of_hosts[i]);
    of_hosts = std::move(above);
  }
  return of_hosts.empty() ? RankClasses{} : std::move(of_hosts.front());
}

std::vector<std::string> lists_of(const RankClasses& classes) {
  std::vector<std::string> lists;
  for (const auto& [key, one] : classes.by_key) lists.push_back(list_of(one.members, 8));
  std::sort(lists.begin(), lists.end());
  return lists;
}

using Lists = std::vector<std::string>;

TEST(RankClasses, DifferByWhatRanksDo) {
  const RankClasses classes = classes_of({waiting(member(0, 3)), waiting(member(1, 3)),
                                          member(2, 2), waiting(member(3, 3)), member(4, 1)});
  EXPECT_EQ(lists_of(classes), (Lists{"0-1, 3", "2", "4"}));
  for (const auto& [key, one] : classes.by_key) {
    if (one.members.count != 3) continue;
    EXPECT_EQ(one.example, waiting(member(0, 3)));
    EXPECT_DOUBLE_EQ(one.min_cpu_s, 1);
    EXPECT_DOUBLE_EQ(one.max_cpu_s, 1 + 3e-6);
    EXPECT_DOUBLE_EQ(one.max_age_s, 10 + 3e-6);
  }
}

TEST(RankClasses, HavePeersByTheirDistanceOrInCommon) {
  std::vector<RankReport> ring;
  std::vector<RankReport> star;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    ring.push_back(waiting(member(rank, 0), (rank + 1) % 8));
    star.push_back(waiting(member(rank, 0), 5));
  }
  const RankClasses of_ring = classes_of(ring);
  ASSERT_EQ(of_ring.by_key.size(), 1U);
  const std::vector<RankRun> runs{{0, 7, 1, 1, 1}, {7, 1, 1, 0, 0}};
  EXPECT_EQ(of_ring.by_key.begin()->second.members.runs, runs);
  const RankClasses of_star = classes_of(star);
  ASSERT_EQ(of_star.by_key.size(), 1U);
  EXPECT_EQ(of_star.by_key.begin()->second.members.runs, (std::vector<RankRun>{{0, 8, 1, 5, 0}}));
}

TEST(RankClasses, MergeToTheSameInAnyTree) {
  for (const bool cyclic : {false, true}) {
    std::mt19937 random(3);
    std::vector<std::vector<RankReport>> hosts(12);
    std::vector<RankReport> all;
    for (std::uint32_t rank = 0; rank < 96; ++rank) {
      RankReport report = member(rank, static_cast<std::uint32_t>(random() % 3));
      if (report.teams[0].barriers == 2) report = waiting(std::move(report));
      all.push_back(report);
      hosts[cyclic ? rank % 12 : rank / 8].push_back(std::move(report));
    }
    std::vector<RankClasses> of_hosts;
    of_hosts.reserve(hosts.size());
    for (const auto& host : hosts) of_hosts.push_back(classes_of(host));
    const RankClasses at_once = classes_of(all);
    for (const std::size_t fan : {2U, 5U, 32U}) {
      std::shuffle(of_hosts.begin(), of_hosts.end(), random);
      const RankClasses in_tree = merged(of_hosts, fan);
      ASSERT_EQ(in_tree.by_key.size(), at_once.by_key.size());
      for (const auto& [key, one] : at_once.by_key) {
        const RankClass& other = in_tree.by_key.at(key);
        EXPECT_EQ(other.members.count, one.members.count);
        EXPECT_EQ(other.example, one.example);
        std::vector<std::uint32_t> ranks[2];
        for (const RankClass* each : {&one, &other})
          for (const RankRun& run : each->members.runs)
            for (std::uint32_t i = 0; i < run.count; ++i)
              ranks[each == &one ? 0 : 1].push_back(run.first + i * run.stride);
        for (auto& some : ranks) std::sort(some.begin(), some.end());
        EXPECT_EQ(ranks[0], ranks[1]);
      }
    }
  }
}

TEST(RankClasses, TravelAsBytes) {
  std::vector<RankReport> all;
  for (std::uint32_t rank = 0; rank < 20; ++rank) {
    OpReport op;
    op.kind = job::OpKind::get;
    op.peer = rank + 100;
    all.push_back(waiting(member(rank, 3), (rank + 1) % 20));
    all.back().operations = {op};
    if (rank % 7 == 3) all.back() = member(rank, 2);
  }
  const RankClasses classes = classes_of(all);
  const auto travelled = decode_classes(encode(classes));
  ASSERT_TRUE(travelled);
  EXPECT_EQ(*travelled, classes);
  // Runs that have no such ranks or peers are refused.
  for (const RankRun& wrong :
       {RankRun{0, 0, 1, 1, 0}, RankRun{0, 2, 0, 1, 0}, RankRun{1, 3, 1U << 31, 1, 0},
        RankRun{0, 3, 1, 1, -1}, RankRun{0, 3, 1, {}, 0}}) {
    RankClasses changed = classes;
    for (auto& [key, one] : changed.by_key)
      if (awaited_of(one.example) != nullptr) one.members.runs = {wrong};
    EXPECT_FALSE(decode_classes(encode(changed)));
  }
}

TEST(RankClasses, AreCompletedByThoseOfAnEarlierCollection) {
  std::vector<RankReport> earlier;
  std::vector<RankReport> later;
  for (std::uint32_t rank = 0; rank < 100; ++rank) {
    earlier.push_back(waiting(member(rank, 3), (rank + 1) % 100));
    if (rank % 4 != 1) later.push_back(member(rank, 3));
  }
  const RankClasses both = completed(classes_of(later), classes_of(earlier));
  EXPECT_EQ(lists_of(both).size(), 2U);
  EXPECT_EQ(ranks_in(both), 100U);
  for (const auto& [key, one] : both.by_key) {
    if (awaited_of(one.example) == nullptr) continue;
    EXPECT_EQ(one.members.runs, (std::vector<RankRun>{{1, 25, 4, 2, 4}}));
  }
  EXPECT_EQ(completed(classes_of(earlier), classes_of(later)), classes_of(earlier));
}

constexpr std::size_t max_bytes = 512 << 10;

TEST(RankClasses, OfManyRanksAreAFewLines) {
  constexpr std::uint32_t per_host = 128;
  std::vector<RankClasses> of_hosts;
  std::vector<RankReport> reports(per_host, waiting(member(0, 3)));
  for (std::uint32_t rank = 0; rank < 1024 * per_host; ++rank) {
    RankReport& report = reports[rank % per_host];
    if (rank == 77'777)
      report = member(rank, 2);
    else if (rank == 77'777 + per_host)
      report = waiting(member(rank, 3));
    report.rank = report.teams[0].rank = rank;
    report.process = static_cast<std::int32_t>(rank);
    if (rank % per_host == per_host - 1) of_hosts.push_back(classes_of(reports));
  }
  const RankClasses all = merged(std::move(of_hosts), 32);
  EXPECT_EQ(lists_of(all), (Lists{"0-77776, 77778-131071", "77777"}));
  EXPECT_EQ(all.left_out, 0U);
  EXPECT_LE(encode(all).size(), std::size_t{2048});
}

TEST(RankClasses, AreBoundedWhateverRanksDo) {
  // Each rank does something else, or waits for a peer of chance.
  constexpr std::uint32_t per_host = 64;
  constexpr std::uint32_t hosts = 256;
  std::mt19937 random(1);
  std::vector<RankClasses> of_hosts;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    std::vector<RankReport> reports;
    for (std::uint32_t rank = host * per_host; rank < (host + 1) * per_host; ++rank) {
      const bool unlike_others = rank % 2 == 0;
      RankReport report = unlike_others
                              ? member(rank, rank)
                              : waiting(member(rank, 1), static_cast<std::uint32_t>(random()));
      if (unlike_others) report.threads[0].backtrace.append(4096, 'x');
      reports.push_back(std::move(report));
    }
    of_hosts.push_back(classes_of(reports));
  }
  const RankClasses all = merged(std::move(of_hosts), 32);
  EXPECT_GE(all.by_key.size(), 64U);
  EXPECT_LE(encode(all).size(), max_bytes);
  std::uint64_t ranks = all.left_out;
  for (const auto& [key, one] : all.by_key) {
    ranks += one.members.count;
    EXPECT_LE(one.members.runs.size(), RankRuns::max_runs);
  }
  EXPECT_EQ(ranks, std::uint64_t{per_host} * hosts);
}

}  // namespace
}  // namespace gex::launch
