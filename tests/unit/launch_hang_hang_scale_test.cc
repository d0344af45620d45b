// The report of a job of up to a million ranks: bytes that arrive at the launcher, memory and
// steps. The ranks are virtual; hosts, agents and the launcher are those of a real job without
// links.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "launch/hang/collected_reports.h"
#include "launch/hang/hang_report.h"

namespace {

/// The allocations of this program.
struct Allocations {
  std::size_t count = 0;
  std::size_t bytes = 0;  ///< at present
  std::size_t peak = 0;
};
Allocations allocations;

}  // namespace

void* operator new(std::size_t size) {
  void* const made = std::malloc(size);
  if (made == nullptr) std::abort();
  ++allocations.count;
  allocations.bytes += malloc_usable_size(made);
  allocations.peak = std::max(allocations.peak, allocations.bytes);
  return made;
}
void operator delete(void* given) noexcept {
  if (given == nullptr) return;
  allocations.bytes -= malloc_usable_size(given);
  std::free(given);
}
void operator delete(void* given, std::size_t) noexcept {
  operator delete(given);
}

namespace gex::launch {
namespace {

constexpr std::uint32_t per_host = 128;
constexpr std::uint32_t fan = 32;

/// The report of the ranks of a part of the job; a part has another last call than each other one.
RankReport report_of(std::uint32_t rank, std::uint32_t ranks, std::uint32_t parts) {
  const std::uint32_t part = rank / (ranks / parts);
  RankReport made;
  made.rank = rank;
  made.process = static_cast<std::int32_t>(1000 + rank);
  made.host = "host" + std::to_string(rank / per_host);
  made.state = 'S';
  made.shown = true;
  made.last_call = " after call " + std::to_string(part);
  TeamReport& team = made.teams.emplace_back();
  team.id = 7;
  team.size = ranks;
  team.rank = rank;
  ThreadReport& thread = made.threads.emplace_back();
  thread.number = 1;
  thread.backtrace = std::string(2000, 'x') + "\n";
  OpReport op;
  op.age_s = 10;
  op.call = "gex_Event_Wait";
  op.bytes = 8;
  switch (part % 4) {
    case 0:
      op.kind = job::OpKind::barrier;
      op.team = 7;
      op.sequence = 1;
      team.barriers = 1;
      thread.wait = op;
      break;
    case 1:
      op.kind = job::OpKind::put;
      op.peer = (rank + 1) % ranks;
      thread.wait = op;
      break;
    case 2:
      op.kind = job::OpKind::get;
      op.peer = ranks - 1;
      thread.wait = op;
      break;
    default:
      made.state = 'R';
      break;
  }
  return made;
}

/// The classes of a host whose ranks are all of one part.
RankClasses classes_of_host(std::uint32_t first, std::uint32_t ranks, std::uint32_t parts) {
  RankClasses classes = classes_of({report_of(first, ranks, parts)});
  RankClass& one = classes.by_key.begin()->second;
  RankRun& run = one.members.runs.front();
  run.count = per_host;
  if (one.example.threads[0].wait && run.peer && *run.peer != ranks - 1) run.peer_stride = 1;
  one.members.count = per_host;
  return classes;
}

struct AtRoot {
  std::uint64_t bytes = 0;
  std::size_t peak = 0;   ///< of memory, for what is kept there and the analysis
  std::size_t steps = 0;  ///< allocations of the analysis
  HangReport report;
};

/// Sends the hosts' classes up a tree of agents.
AtRoot collect(std::vector<RankClasses> of_hosts, std::uint32_t ranks) {
  std::vector<std::vector<std::byte>> level;
  for (const RankClasses& one : of_hosts) level.push_back(encode(one));
  of_hosts.clear();
  while (level.size() > fan) {
    std::vector<std::vector<std::byte>> above;
    for (std::size_t first = 0; first < level.size(); first += fan) {
      CollectedReports agent(ranks);
      for (std::size_t i = first; i < std::min<std::size_t>(first + fan, level.size()); ++i)
        EXPECT_TRUE(agent.add(ReportForm::classes, level[i]));
      above.push_back(agent.encoded());
    }
    level = std::move(above);
  }
  AtRoot made;
  const Allocations before = allocations;
  allocations.peak = allocations.bytes;
  CollectedReports root(ranks);
  for (const std::vector<std::byte>& sent : level) {
    made.bytes += sent.size();
    EXPECT_TRUE(root.add(ReportForm::classes, sent));
  }
  const RankClasses classes = root.take();
  const std::size_t steps_before = allocations.count;
  made.report = analyse(classes);
  made.steps = allocations.count - steps_before;
  made.peak = allocations.peak - before.bytes;
  return made;
}

AtRoot collect(std::uint32_t ranks, std::uint32_t parts) {
  std::vector<RankClasses> of_hosts;
  for (std::uint32_t first = 0; first < ranks; first += per_host)
    of_hosts.push_back(classes_of_host(first, ranks, parts));
  return collect(std::move(of_hosts), ranks);
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// The bytes that may arrive at the launcher for a report of so many ranks.
constexpr std::size_t max_bytes(std::uint32_t ranks) {
  return ranks > 131'072 ? 16 * mebibyte : ranks > 16'384 ? 4 * mebibyte : mebibyte;
}

TEST(HangScale, BytesMemoryAndTextDoNotGrowWithRanks) {
  for (const std::uint32_t ranks : {65'536U, 131'072U, 1'048'576U}) {
    const AtRoot root = collect(ranks, 32);
    EXPECT_LE(root.bytes, max_bytes(ranks));
    EXPECT_LE(root.bytes, mebibyte / 4) << "of a few dozen classes";
    EXPECT_LE(root.peak, 2 * mebibyte) << ranks;
    EXPECT_EQ(root.report.classes.size(), 32U);
    std::uint64_t counted = 0;
    for (const RankClass& one : root.report.classes) counted += one.members.count;
    EXPECT_EQ(counted, ranks);
    EXPECT_EQ(root.report.left_out, 0U);
    const std::string text = to_text(root.report);
    EXPECT_LE(text.size(), std::size_t{32} << 10);
    EXPECT_LE(to_json(root.report).size(), 2 * mebibyte);
    EXPECT_NE(text.find("wait in gex_Event_Wait for a get of 8 bytes with rank " +
                        std::to_string(ranks - 1)),
              std::string::npos)
        << text;
  }
}

TEST(HangScale, StepsAreLinearInClassesAndIndependentOfRanks) {
  const std::size_t few = collect(131'072, 32).steps;
  EXPECT_LE(collect(1'048'576, 32).steps, few + few / 20) << "longer numbers";
  const std::size_t twice = collect(131'072, 64).steps;
  const std::size_t four_times = collect(131'072, 128).steps;
  EXPECT_LE(twice, few * 5 / 2);
  EXPECT_LE(four_times, twice * 5 / 2);
}

TEST(HangScale, RanksThatAllDifferAreCountedBeyondABound) {
  constexpr std::uint32_t ranks = 4096;
  std::mt19937 random(3);
  std::vector<RankClasses> of_hosts;
  for (std::uint32_t first = 0; first < ranks; first += per_host) {
    std::vector<RankReport> reports;
    for (std::uint32_t rank = first; rank < first + per_host; ++rank) {
      RankReport& made = reports.emplace_back(report_of(rank, ranks, 32));
      made.last_call += " of rank " + std::to_string(rank);
      if (made.threads[0].wait && made.threads[0].wait->peer)
        made.threads[0].wait->peer = static_cast<std::uint32_t>(random() % ranks);
    }
    of_hosts.push_back(classes_of(reports));
  }
  const AtRoot root = collect(std::move(of_hosts), ranks);
  EXPECT_LE(root.bytes, 16 * mebibyte);
  EXPECT_LE(root.peak, 16 * mebibyte);
  const std::size_t shown = root.report.classes.size();
  EXPECT_GE(shown, 128U);
  EXPECT_LE(shown, RankClasses::max_classes);
  EXPECT_EQ(root.report.left_out, ranks - shown);
  const std::string text = to_text(root.report);
  EXPECT_LE(text.size(), std::size_t{64} << 10);
  const std::string left_out = std::to_string(ranks - shown);
  EXPECT_NE(text.find("\n" + left_out + " more ranks do yet other things and are left out"),
            std::string::npos)
      << text;
  const std::string json = to_json(root.report);
  EXPECT_LE(json.size(), 2 * mebibyte);
  EXPECT_NE(json.find(R"("left_out": {"count": )" + left_out), std::string::npos);
}

TEST(HangScale, RanksThatWaitForPeersOfChanceAreListedUpToABound) {
  constexpr std::uint32_t ranks = 16'384;
  std::mt19937 random(4);
  std::vector<RankClasses> of_hosts;
  for (std::uint32_t first = 0; first < ranks; first += per_host) {
    std::vector<RankReport> reports;
    for (std::uint32_t rank = first; rank < first + per_host; ++rank) {
      reports.push_back(report_of(rank, ranks, 1));
      OpReport op;
      op.kind = job::OpKind::put;
      op.peer = static_cast<std::uint32_t>(random() % ranks);
      reports.back().threads[0].wait = op;
    }
    of_hosts.push_back(classes_of(reports));
  }
  const AtRoot root = collect(std::move(of_hosts), ranks);
  EXPECT_LE(root.bytes, 4 * mebibyte);
  EXPECT_LE(root.peak, 16 * mebibyte);
  ASSERT_EQ(root.report.waits.size(), 1U);
  EXPECT_EQ(root.report.waits[0].ranks.count, ranks);
  EXPECT_LE(root.report.waits[0].ranks.runs.size(), RankRuns::max_runs);
  const std::string text = to_text(root.report);
  EXPECT_LE(text.size(), std::size_t{16} << 10);
  EXPECT_NE(text.find(" more may wait for each other in further circles"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace gex::launch
