// Reports of a job's ranks on their way from hosts to the coordinator: those of few ranks as they
// are, those of many as classes, whatever ways they take.

#include "launch/hang/collected_reports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "launch/hang/hang_report.h"

namespace gex::launch {
namespace {

/// A rank that waits in barrier 3 of the team of all ranks; or it has not called it.
RankReport in_barrier(std::uint32_t rank, std::uint32_t ranks, bool waits) {
  RankReport made;
  made.rank = rank;
  made.process = static_cast<std::int32_t>(1000 + rank);
  made.host = "host" + std::to_string(rank / 128);
  made.state = waits ? 'S' : 'R';
  made.shown = true;
  TeamReport team;
  team.id = 7;
  team.size = ranks;
  team.rank = rank;
  team.barriers = waits ? 3 : 2;
  made.teams = {team};
  ThreadReport thread;
  thread.number = 1;
  thread.kernel_thread = made.process;
  if (waits) {
    OpReport op;
    op.kind = job::OpKind::barrier;
    op.call = "gex_Event_Wait";
    op.team = 7;
    op.sequence = 3;
    op.age_s = 10;
    thread.wait = op;
  }
  made.threads = {thread};
  return made;
}

TEST(CollectedReports, OfFewRanksAreKeptAsTheyAre) {
  std::vector<RankReport> all;
  for (std::uint32_t rank = 0; rank < 4; ++rank) all.push_back(in_barrier(rank, 4, rank != 2));
  CollectedReports agent(4);
  EXPECT_TRUE(agent.add(ReportForm::ranks, encode(std::vector{all[3], all[1]})));
  EXPECT_TRUE(agent.add(ReportForm::ranks, encode(std::vector{all[2]})));
  CollectedReports root(4);
  EXPECT_TRUE(root.add(agent.form(), agent.encoded()));
  EXPECT_TRUE(root.add(ReportForm::ranks, encode(std::vector{all[0]})));
  EXPECT_EQ(root.take(), each_alone(all));
  EXPECT_EQ(ranks_in(root.take()), 0U);
}

TEST(CollectedReports, OfManyRanksAreClassesOnEveryWay) {
  constexpr std::uint32_t ranks = 65'536;
  constexpr std::uint32_t per_host = 128;
  constexpr std::uint32_t hosts_per_agent = 16;
  constexpr std::uint32_t late = 40'000;
  CollectedReports root(ranks);
  std::size_t bytes_at_root = 0;
  for (std::uint32_t first = 0; first < ranks; first += per_host * hosts_per_agent) {
    CollectedReports agent(ranks);
    for (std::uint32_t host = 0; host < hosts_per_agent; ++host) {
      std::vector<RankReport> reports;
      for (std::uint32_t i = 0; i < per_host; ++i) {
        const std::uint32_t rank = first + host * per_host + i;
        reports.push_back(in_barrier(rank, ranks, rank != late));
      }
      ASSERT_TRUE(agent.add(ReportForm::ranks, encode(reports)));
    }
    const std::vector<std::byte> sent = agent.encoded();
    ASSERT_EQ(agent.form(), ReportForm::classes);
    bytes_at_root += sent.size();
    ASSERT_TRUE(root.add(agent.form(), sent));
  }
  EXPECT_LE(bytes_at_root, std::size_t{32} * 1024);
  EXPECT_LE(root.encoded().size(), std::size_t{1024});
  std::vector<std::string> lists;
  for (const auto& [key, one] : root.take().by_key) lists.push_back(list_of(one.members, 8));
  std::ranges::sort(lists);
  EXPECT_EQ(lists, (std::vector<std::string>{"0-39999, 40001-65535", "40000"}));
}

TEST(CollectedReports, OfManyRanksNameThoseThatAreMissing) {
  constexpr std::uint32_t ranks = 1500;
  CollectedReports root(ranks);
  for (const bool odd : {true, false}) {
    std::vector<RankReport> reports;
    for (std::uint32_t rank = odd ? 1 : 0; rank < ranks; rank += 2)
      reports.push_back(in_barrier(rank, ranks, rank % 500 != 7));
    ASSERT_TRUE(root.add(ReportForm::ranks, encode(reports)));
  }
  const HangReport report = analyse(root.take());
  ASSERT_EQ(report.waits.size(), 1U);
  EXPECT_EQ(report.waits[0].ranks.count, ranks - 3U);
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(first_of(report.culprits[0].ranks, 8), (std::vector<std::uint32_t>{7, 507, 1007}));
}

TEST(CollectedReports, RefuseBytesThatAreNoReports) {
  CollectedReports reports(2000);
  for (const ReportForm form : {ReportForm::ranks, ReportForm::classes})
    for (const std::size_t size : {1U, 3U, 100U})
      EXPECT_FALSE(reports.add(form, std::vector<std::byte>(size, std::byte{0xff})));
  EXPECT_FALSE(reports.add(ReportForm::ranks, {}));
  EXPECT_EQ(ranks_in(reports.take()), 0U);
}

}  // namespace
}  // namespace gex::launch
