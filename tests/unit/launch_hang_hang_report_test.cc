// The hang report: who waits for whom, circles, culprits and mismatches, as text and JSON, out of
// what the ranks have shown.

#include "launch/hang/hang_report.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "launch/hang/rank_report.h"

namespace gex::launch {
namespace {

constexpr std::uint64_t all_ranks = 0x1234;

OpReport op(job::OpKind kind, const char* call, std::optional<std::uint32_t> peer = {}) {
  OpReport made;
  made.kind = kind;
  made.call = call;
  made.peer = peer;
  made.bytes = 8;
  made.age_s = 12.0;
  return made;
}

OpReport of_team(job::OpKind kind, const char* call, std::uint32_t sequence) {
  OpReport made = op(kind, call);
  made.team = all_ranks;
  made.sequence = sequence;
  return made;
}

/// A rank of a team of `size` that has made so many barriers and collectives.
RankReport member(std::uint32_t rank, std::uint32_t size, std::uint32_t barriers,
                  std::uint32_t collectives = 0) {
  RankReport made;
  made.rank = rank;
  made.host = "host";
  made.state = 'R';
  made.shown = true;
  TeamReport team;
  team.id = all_ranks;
  team.size = size;
  team.rank = rank;
  team.barriers = barriers;
  team.collectives = collectives;
  made.teams = {team};
  return made;
}

RankReport waiting(RankReport rank, const OpReport& wait) {
  ThreadReport thread;
  thread.number = 1;
  thread.kernel_thread = 1000;
  thread.wait = wait;
  rank.threads = {thread};
  return rank;
}

RankReport running(RankReport rank) {
  ThreadReport thread;
  thread.number = 1;
  thread.kernel_thread = 1000;
  rank.threads = {thread};
  return rank;
}

using Ranks = std::vector<std::uint32_t>;

/// The report of few ranks.
HangReport report_of(const std::vector<RankReport>& ranks) {
  return analyse(each_alone(ranks));
}

Ranks listed(const RankRuns& ranks) {
  return first_of(ranks, SIZE_MAX);
}

/// A layer above the library waits.
RankReport annotated(RankReport rank, const char* text) {
  rank.threads.front().annotation = text;
  return rank;
}

TEST(HangReport, ShowsTheWaitsOfALayerAbove) {
  const OpReport answer = op(job::OpKind::annotated, "", 1);
  const OpReport barrier = of_team(job::OpKind::barrier, "gex_Coll_BarrierNB", 3);
  const OpReport unknown = op(job::OpKind::annotated, "");
  const HangReport report =
      report_of({annotated(waiting(member(0, 3, 2), answer), "wait (a.cc:4)"),
                 annotated(waiting(member(1, 3, 2), unknown), "wait (a.cc:5)"),
                 annotated(waiting(member(2, 3, 3), barrier), "barrier")});
  ASSERT_EQ(report.waits.size(), 3U);
  EXPECT_EQ(report.waits[0].why, "waits in wait (a.cc:4), from rank 1");
  EXPECT_EQ(listed(*report.waits[0].waits_for), Ranks{1});
  EXPECT_EQ(report.waits[1].why, "waits in wait (a.cc:5)");
  EXPECT_EQ(report.waits[2].why,
            "waits in barrier: gex_Coll_BarrierNB, barrier 3 of a team of 3, which ranks 0-1 have "
            "not called");
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].what, "waits in wait (a.cc:5)");
  EXPECT_NE(to_json(report).find("\"annotation\": \"wait (a.cc:4)\""), std::string::npos);
  const std::vector<RankReport> ranks{report.classes[0].example, report.classes[1].example};
  const auto copy = decode(encode(ranks));
  ASSERT_TRUE(copy);
  EXPECT_EQ(*copy, ranks);
}

TEST(HangReport, NamesTheMembersThatHaveNotCalledTheBarrier) {
  const OpReport barrier = of_team(job::OpKind::barrier, "gex_Coll_BarrierBlocking", 3);
  const HangReport report =
      report_of({running(member(2, 4, 2)), waiting(member(0, 4, 3), barrier),
                 waiting(member(1, 4, 3), barrier), running(member(3, 4, 2))});
  ASSERT_EQ(report.waits.size(), 2U);
  EXPECT_EQ(report.waits[0].rank, 0U);
  EXPECT_EQ(listed(*report.waits[0].waits_for), (Ranks{2, 3}));
  EXPECT_EQ(report.waits[0].why,
            "waits in gex_Coll_BarrierBlocking, barrier 3 of a team of 4, which ranks 2-3 have not "
            "called");
  ASSERT_EQ(report.culprits.size(), 2U);
  EXPECT_EQ(report.culprits[0].ranks.lowest(), 2U);
  EXPECT_NE(report.culprits[0].what.find("computes, or is in a loop"), std::string::npos);
  EXPECT_TRUE(report.circles.empty());
  EXPECT_NE(to_text(report).find("ranks 0-1 for 12.0 s: wait in gex_Coll_BarrierBlocking"),
            std::string::npos);
}

TEST(HangReport, ReportsThatMembersAreUnknown) {
  const HangReport report = report_of(
      {waiting(member(0, 3, 1), of_team(job::OpKind::barrier, "gex_Coll_BarrierBlocking", 1)),
       running(member(1, 3, 1))});
  EXPECT_TRUE(report.waits[0].waits_for->empty());
  EXPECT_NE(report.waits[0].why.find("nothing is known of 1 of its members"), std::string::npos);
}

TEST(HangReport, FindsACircle) {
  const HangReport report =
      report_of({waiting(member(0, 4, 0), op(job::OpKind::get, "gex_RMA_GetBlocking", 1)),
                 waiting(member(1, 4, 0), op(job::OpKind::message, "gex_AM_RequestShort", 2)),
                 waiting(member(2, 4, 0), op(job::OpKind::put, "gex_RMA_PutBlocking", 0)),
                 waiting(member(3, 4, 0), op(job::OpKind::put, "gex_RMA_PutBlocking", 0))});
  ASSERT_EQ(report.circles.size(), 1U);
  EXPECT_EQ(listed(report.circles[0]), (Ranks{0, 1, 2}));
  EXPECT_TRUE(report.culprits.empty());
  EXPECT_NE(to_text(report).find("circle: ranks 0-2 wait for each other"), std::string::npos);
}

TEST(HangReport, FindsALongChainWithoutDeepRecursion) {
  std::vector<RankReport> ranks;
  constexpr std::uint32_t count = 50'000;
  for (std::uint32_t r = 0; r < count; ++r)
    ranks.push_back(
        waiting(member(r, count, 0), op(job::OpKind::put, "gex_RMA_PutBlocking", r + 1)));
  const HangReport report = report_of(ranks);
  EXPECT_TRUE(report.circles.empty());
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].ranks.lowest(), count);
  EXPECT_EQ(report.culprits[0].what, "of which nothing is known");
}

TEST(HangReport, ReportsAStoppedRankThoughItWaits) {
  RankReport stopped = waiting(member(1, 2, 0), op(job::OpKind::put, "gex_RMA_PutBlocking", 0));
  stopped.state = 'T';
  const HangReport report = report_of(
      {waiting(member(0, 2, 0), op(job::OpKind::get, "gex_RMA_GetBlocking", 1)), stopped});
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].ranks.lowest(), 1U);
  EXPECT_EQ(report.culprits[0].what.rfind("is stopped by a signal", 0), 0U);
}

TEST(HangReport, ReportsAHandlerThatHasNotReturned) {
  RankReport in_handler = running(member(1, 2, 0));
  in_handler.threads[0].in_handler = true;
  const HangReport report = report_of(
      {waiting(member(0, 2, 0), op(job::OpKind::get, "gex_RMA_GetBlocking", 1)), in_handler});
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].what.rfind("is in a handler that has not returned", 0), 0U);
}

TEST(HangReport, ReportsMembersInDifferentCollectives) {
  const HangReport report = report_of(
      {waiting(member(0, 2, 0, 5), of_team(job::OpKind::collective, "gex_Coll_BroadcastNB", 5)),
       waiting(member(1, 2, 0, 5), of_team(job::OpKind::collective, "gex_Coll_ReduceToAllNB", 5))});
  ASSERT_EQ(report.mismatches.size(), 1U);
  EXPECT_EQ(listed(report.mismatches[0].ranks), (Ranks{0, 1}));
  EXPECT_EQ(report.mismatches[0].what,
            "gex_Coll_BroadcastNB on rank 0, gex_Coll_ReduceToAllNB on rank 1");
}

TEST(HangReport, ALoopOfPollsWaitsForTheOperationsInFlight) {
  RankReport in_loop = running(member(0, 2, 0));
  in_loop.threads[0].condition_s = 4.0;
  HangReport report = report_of({in_loop, running(member(1, 2, 0))});
  ASSERT_EQ(report.waits.size(), 1U);
  EXPECT_TRUE(report.waits[0].waits_for->empty());
  EXPECT_NE(report.waits[0].why.find("for a message that has not come"), std::string::npos);

  in_loop.operations = {op(job::OpKind::get, "gex_RMA_GetNB", 1)};
  report = report_of({in_loop, running(member(1, 2, 0))});
  EXPECT_EQ(listed(*report.waits[0].waits_for), (Ranks{1}));
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].ranks.lowest(), 1U);
}

TEST(HangReport, DistinguishesTeams) {
  constexpr std::uint64_t made = 0x5678;
  const auto in_barrier_of = [](std::uint32_t rank, std::uint64_t team) {
    RankReport report = member(rank, 2, 1);
    TeamReport& split = report.teams.emplace_back(report.teams[0]);
    split.id = made;
    split.parent = all_ranks;
    split.made_as = 3;
    split.made_by = "gex_TM_Split";
    split.made_at = "solver(+0x12)";
    OpReport barrier = of_team(job::OpKind::barrier, "gex_Coll_BarrierNB", 1);
    barrier.team = team;
    return waiting(report, barrier);
  };
  const HangReport report = report_of({in_barrier_of(0, all_ranks), in_barrier_of(1, made)});
  const std::string text = to_text(report);
  EXPECT_NE(text.find("barrier 1 of team A"), std::string::npos) << text;
  EXPECT_NE(text.find("barrier 1 of team B"), std::string::npos) << text;
  EXPECT_NE(text.find("these are 2 different teams:\n"
                      "team A, of 2 ranks: the primordial team\n"
                      "team B, of 2 ranks: team 3 made of the primordial team, by "
                      "gex_TM_Split at solver(+0x12)\n"),
            std::string::npos)
      << text;
}

TEST(HangReport, ReportsWhatRanksDoThatNeitherWaitNorAreWaitedFor) {
  RankReport polls = running(member(0, 4, 0));
  polls.threads[0].polls = true;
  polls.threads[0].backtrace = "frames\n";
  polls.cpu_s = 1;
  RankReport polls_too = polls;
  polls_too.rank = 2;
  polls_too.cpu_s = 2.5;
  RankReport left = running(member(1, 4, 0));
  left.state = 'S';
  left.left = true;
  RankReport sleeps = running(member(3, 4, 0));
  sleeps.state = 'S';
  sleeps.threads[0].system_call = "read";
  sleeps.threads[0].region_open = true;
  const std::string text = to_text(report_of({polls, left, polls_too, sleeps}));
  EXPECT_EQ(text,
            "no rank waits\n"
            "ranks 0, 2 poll in a loop, in which nothing arrives (1.0 to 2.5 s of processor time)\n"
            "rank 1 has left the job: it has returned from main, or called exit or gasnet_exit "
            "(0.0 s of processor time)\n"
            "rank 3 sleeps outside the library, in read (0.0 s of processor time)\n"
            "rank 3 has an access region open (gex_NBI_BeginAccessRegion without "
            "gex_NBI_EndAccessRegion)\n"
            "stack of ranks 0, 2, thread 1:\nframes\n");
}

TEST(HangReport, OfManyRanksIsAsLargeAsTheyDiffer) {
  // Every other one waits for the rest.
  constexpr std::uint32_t size = 32768;
  const OpReport barrier = of_team(job::OpKind::barrier, "gex_Coll_BarrierBlocking", 3);
  std::vector<RankReport> ranks;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    ranks.push_back(rank % 2 == 0 ? waiting(member(rank, size, 3), barrier)
                                  : running(member(rank, size, 2)));
  const HangReport report = analyse(classes_of(ranks));
  ASSERT_EQ(report.waits.size(), 1U);
  EXPECT_EQ(report.waits[0].ranks.count, size / 2);
  ASSERT_EQ(report.culprits.size(), 1U);
  EXPECT_EQ(report.culprits[0].ranks.count, size / 2);
  EXPECT_TRUE(report.others.empty());
  EXPECT_TRUE(report.circles.empty());
  EXPECT_EQ(to_text(report),
            "ranks 0-32766 by 2 for 12.0 s: wait in gex_Coll_BarrierBlocking, barrier 3 of a team "
            "of 32768, which ranks 1-32767 by 2 have not called\n"
            "ranks 1-32767 by 2, which others wait for, run, and are in no wait of the library: "
            "they compute, or are in a loop (0.0 s of processor time)\n");
  const std::string json = to_json(report);
  EXPECT_LE(json.size(), std::size_t{16} << 10);
  EXPECT_NE(json.find(R"("ranks": "1-32767 by 2", "count": 16384)"), std::string::npos);
}

TEST(HangReport, JsonQuotesTextOfRanks) {
  RankReport rank = running(member(0, 1, 0));
  rank.host = "a\"b\\c\n\x01";
  rank.threads[0].backtrace = "one\ntwo\n";
  const std::string json = to_json(report_of({rank}));
  EXPECT_NE(json.find(R"("host": "a\"b\\c\n\u0001")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("backtrace": "one\ntwo\n")"), std::string::npos);
}

TEST(HangReport, ReportsHowLongARankWaits) {
  RankReport rank = running(member(0, 1, 0));
  EXPECT_FALSE(is_waiting(rank, 0));
  rank.operations = {op(job::OpKind::get, "gex_RMA_GetNB", 1)};
  EXPECT_TRUE(is_waiting(rank, 12));
  EXPECT_FALSE(is_waiting(rank, 12.5));
  rank.operations[0].age_s.reset();
  EXPECT_FALSE(is_waiting(rank, 0));
}

TEST(HangReport, ListsRanksAsRanges) {
  EXPECT_EQ(list_of({}), "");
  EXPECT_EQ(list_of({3}), "3");
  EXPECT_EQ(list_of({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
}

TEST(RankReport, TravelsAsBytes) {
  RankReport rank = waiting(member(3, 4, 2, 1), op(job::OpKind::put, "gex_RMA_PutBlocking", 0));
  rank.operations = {of_team(job::OpKind::barrier, "", 7)};
  rank.threads[0].condition_s = 1.5;
  rank.threads[0].backtrace = "frames";
  rank.threads[0].system_call = "read";
  rank.teams[0].made_by = "gex_TM_Split";
  rank.last_call = " after gex_AM_RequestShort";
  rank.hidden = 9;
  const std::vector<RankReport> reports{rank, member(0, 4, 1)};
  const std::vector<std::byte> bytes = encode(reports);
  const auto back = decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, reports);
}

TEST(RankReport, RefusesBytesThatAreNoReport) {
  const std::vector<std::byte> bytes =
      encode({waiting(member(3, 4, 2), op(job::OpKind::put, "gex_RMA_PutBlocking", 0))});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode({bytes.data(), size})) << size;
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer));
  // A length that its bytes cannot hold must not be allocated.
  const std::vector<std::byte> huge(4, std::byte{0xff});
  EXPECT_FALSE(decode(huge));
}

}  // namespace
}  // namespace gex::launch
