#include "gextrace/read.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../temporary_folder.h"
#include "gextrace/align.h"
#include "gextrace/recording.h"
#include "gextrace/spans.h"
#include "gextrace/summary.h"
#include "written_trace.h"

namespace gextrace {
namespace {

constexpr std::uint16_t put = 7;
constexpr std::uint16_t wait_event = 8;

WrittenTrace trace_of(std::uint32_t rank, std::uint32_t job_size) {
  WrittenTrace trace(rank, job_size);
  trace.name(Names::calls, put, "gex_RMA_PutNB");
  trace.name(Names::classes, put, "put");
  trace.name(Names::calls, wait_event, "gex_Event_Wait");
  trace.name(Names::classes, wait_event, "synchronize");
  trace.name(Names::causes, 0, "completion");
  trace.name(Names::handlers, 200, "ping");
  return trace;
}

class ReadTest : public testing::Test {
 protected:
  std::string file(std::uint32_t rank) const { return base + "." + std::to_string(rank); }

  std::optional<Job> read(const std::vector<std::uint32_t>& wanted = {}) {
    return read_job({base}, wanted, why);
  }
  /// Everything that gextrace makes of the files.
  Summary summary(const Filter& filter = {}) {
    const std::optional<Outline> outline = read_outline({base}, filter.ranks, why);
    if (!outline) throw std::runtime_error(why);
    Summarizer made(*outline, {base}, filter);
    if (!make_outputs(*outline, filter, {&made}, why)) throw std::runtime_error(why);
    return made.summary();
  }

  TemporaryFolder folder;
  std::string base = folder.path() + "/trace";
  std::string why;
};

TEST_F(ReadTest, AddsUpCallsByPeer) {
  WrittenTrace trace = trace_of(0, 1);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto peer = static_cast<std::uint32_t>(i % 2);
    trace.add(Kind::call_begin, 2'000'000 + 100 * i, put);
    trace.add(Kind::call_end, 2'000'040 + 100 * i, put, peer, 64, 0, gex::trace::has_peer);
  }
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_TRUE(sum.remarks.empty()) << sum.remarks.front();
  ASSERT_EQ(sum.calls.size(), 1U);
  const CallSummary& call = sum.calls.at("gex_RMA_PutNB");
  EXPECT_EQ(call.kind, "put");
  EXPECT_EQ(call.all.count, 10U);
  EXPECT_EQ(call.all.ns, 400);
  EXPECT_EQ(call.all.bytes, 640U);
  EXPECT_EQ(call.peers.at(1).count, 5U);
  EXPECT_EQ(sum.pairs.at({0, 1}).puts.bytes, 320U);
}

TEST_F(ReadTest, TakesARecordOfAWholeCallForItsBeginAndItsEnd) {
  WrittenTrace trace = trace_of(0, 2);
  trace.add(Kind::call_begin, 1'000'000, wait_event);
  trace.add(Kind::call, 1'000'010, put, 1, 64, 1'000'040, gex::trace::has_peer);
  trace.add(Kind::call_end, 1'000'100, wait_event);
  // A damaged one, which ends before it begins.
  trace.add(Kind::call, 1'000'200, put, 1, 64, 1'000'100, gex::trace::has_peer);
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_EQ(sum.calls.at("gex_RMA_PutNB").all.count, 1U);
  EXPECT_EQ(sum.calls.at("gex_RMA_PutNB").all.ns, 30);
  EXPECT_EQ(sum.calls.at("gex_RMA_PutNB").all.bytes, 64U);
  EXPECT_EQ(sum.calls.at("gex_Event_Wait").all.ns, 100);
  EXPECT_TRUE(std::any_of(sum.remarks.begin(), sum.remarks.end(), [](const std::string& remark) {
    return remark == "rank 0: 1 records are damaged; left out";
  }));
}

TEST_F(ReadTest, TakesHandlersOutOfWaiting) {
  WrittenTrace trace = trace_of(0, 2);
  trace.add(Kind::call_begin, 1'000'000, put);
  trace.add(Kind::call_end, 1'000'100, put, 1, 8, 4711, gex::trace::has_peer);
  trace.add(Kind::call_begin, 1'000'200, wait_event);
  trace.add(Kind::wait_begin, 1'000'210, 0);
  trace.add(Kind::handler_begin, 1'000'300, 200, 1, 16, 0);
  trace.add(Kind::handler_end, 1'000'350, 200, 1, 16, 0);
  trace.add(Kind::wait_end, 1'000'500, 0);
  trace.add(Kind::call_end, 1'000'520, wait_event, ~0U, 0, 4711);
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_EQ(sum.calls.at("gex_Event_Wait").waiting, 240);
  EXPECT_EQ(sum.handlers.at("ping").ns, 50);
  EXPECT_EQ(sum.handlers.at("ping").bytes, 16U);
  // What is waited for is the put, by the event that both have.
  const Tally& waited = sum.waits.at({"completion", "gex_RMA_PutNB"});
  EXPECT_EQ(waited.count, 1U);
  EXPECT_EQ(waited.ns, 240);
}

TEST_F(ReadTest, EndsOperationsWhereTheyWereComplete) {
  WrittenTrace trace = trace_of(0, 2);
  // One with an event, one without; of the first the event is waited for later.
  trace.add(Kind::call_begin, 1'000'000, put);
  trace.add(Kind::event_of_operation, 1'000'050, 0, ~0U, 4'096, 11);
  trace.add(Kind::call_end, 1'000'050, put, 1, 8, 11,
            gex::trace::has_peer | gex::trace::has_number);
  trace.add(Kind::call_begin, 1'000'100, put);
  trace.add(Kind::call_end, 1'000'150, put, 1, 8, 13,
            gex::trace::has_peer | gex::trace::has_number);
  trace.add(Kind::operation_done, 1'000'300, 0, ~0U, 0, 13);
  trace.add(Kind::operation_done, 1'000'400, 0, ~0U, 0, 11);
  trace.add(Kind::call_begin, 1'000'900, wait_event);
  trace.add(Kind::wait_begin, 1'000'910, 0);
  trace.add(Kind::wait_end, 1'000'920, 0);
  trace.add(Kind::call_end, 1'000'950, wait_event, ~0U, 0, 4'096);
  trace.write(file(0));
  std::optional<Job> job = read();
  ASSERT_TRUE(job);
  convert_ticks(*job);
  correct_clocks(*job, {});
  const RankSpans spans = spans_of(job->ranks.front());
  ASSERT_EQ(spans.operations.size(), 2U);
  std::map<std::uint32_t, std::int64_t> ends;
  for (const Operation& operation : spans.operations) ends[operation.call] = operation.end;
  EXPECT_EQ(ends, (std::map<std::uint32_t, std::int64_t>{{0, 400}, {1, 300}}));
  const Filter all;
  EXPECT_EQ(summary(all).waits.at({"completion", "gex_RMA_PutNB"}).count, 1U);
}

TEST_F(ReadTest, NamesTheRankThatArrivesLast) {
  constexpr std::uint64_t team = 5;
  constexpr std::uint32_t size = 3;
  // Rank 2 is late by 300 at two of three barriers, rank 0 at one; of another the last is missing.
  const std::uint64_t arrivals[size][4] = {
      {100, 1'000, 2'900, 4'000}, {200, 1'100, 2'200, 4'000}, {500, 1'400, 2'000, 0}};
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    WrittenTrace trace = trace_of(rank, size);
    for (std::uint64_t number = 0; number < 4; ++number)
      if (arrivals[rank][number] != 0)
        trace.add(Kind::collective, 1'000'000 + arrivals[rank][number], 0, size, number, team);
    trace.write(file(rank));
  }
  const Summary sum = summary();
  EXPECT_EQ(sum.barriers, 11U);
  ASSERT_EQ(sum.last_arrivals.size(), 2U);
  EXPECT_EQ(sum.last_arrivals.at(2).count, 2U);
  EXPECT_EQ(sum.last_arrivals.at(2).ns, 600);
  EXPECT_EQ(sum.last_arrivals.at(0).count, 1U);
  EXPECT_EQ(sum.last_arrivals.at(0).ns, 700);
}

TEST_F(ReadTest, ShowsIntervalsOfALayerAboveAroundCalls) {
  WrittenTrace trace = trace_of(0, 1);
  trace.name(Names::annotations, 0, "task");
  trace.add(Kind::annotation_begin, 1'000'000, 0);
  trace.add(Kind::call_begin, 1'000'100, put);
  trace.add(Kind::call_end, 1'000'150, put);
  trace.add(Kind::annotation_end, 1'000'900, 0);
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_EQ(sum.intervals.at("task").count, 1U);
  EXPECT_EQ(sum.intervals.at("task").ns, 900);
  // The call is the rank's outermost all the same.
  EXPECT_EQ(sum.ranks.front().calls, 50);
  std::optional<Job> job = read();
  ASSERT_TRUE(job);
  convert_ticks(*job);
  const RankSpans spans = spans_of(job->ranks.front(), Annotations::left_out);
  ASSERT_EQ(spans.spans.size(), 1U);
  EXPECT_EQ(spans.spans[0].parent, Span::none);
}

TEST_F(ReadTest, FiltersByTimeAndName) {
  WrittenTrace trace = trace_of(0, 1);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto what = i % 2 == 0 ? put : wait_event;
    trace.add(Kind::call_begin, 1'000'000 + i * 1'000, what);
    trace.add(Kind::call_end, 1'000'500 + i * 1'000, what);
  }
  trace.write(file(0));
  Filter named;
  named.calls = {"gex_RMA_*"};
  EXPECT_EQ(summary(named).calls.size(), 1U);
  EXPECT_EQ(summary(named).calls.at("gex_RMA_PutNB").all.count, 2U);
  Filter late;
  late.from = 1'800;
  EXPECT_EQ(summary(late).calls.at("gex_RMA_PutNB").all.count, 1U);
  EXPECT_EQ(summary(late).calls.at("gex_Event_Wait").all.count, 1U);
}

TEST_F(ReadTest, ShowsWhatARankWasInWhenItDied) {
  WrittenTrace trace = trace_of(0, 1);
  trace.header.closed = 0;
  trace.add(Kind::call_begin, 1'000'000, put, 3, 8, 0, gex::trace::has_peer);
  trace.add(Kind::wait_begin, 1'000'100, 0);
  trace.write(file(0));
  std::optional<Job> job = read();
  ASSERT_TRUE(job);
  ASSERT_EQ(job->remarks.size(), 1U);
  EXPECT_EQ(job->remarks.front(), "rank 0: its process was ended, or is still running");
  convert_ticks(*job);
  const RankSpans spans = spans_of(job->ranks.front());
  ASSERT_EQ(spans.spans.size(), 2U);
  EXPECT_TRUE(spans.spans[0].unfinished);
  EXPECT_EQ(spans.spans[0].peer, 3U);
  EXPECT_EQ(spans.spans[0].end - spans.spans[0].begin, 100);
}

TEST_F(ReadTest, FindsTheOnlyRankOfALargeJobThatWasTraced) {
  trace_of(5'000, 8'000).write(file(5'000));
  const std::optional<Job> job = read();
  ASSERT_TRUE(job) << why;
  ASSERT_EQ(job->ranks.size(), 1U);
  EXPECT_EQ(job->ranks.front().rank, 5'000U);
}

TEST_F(ReadTest, KeepsACallWhoseBeginWasOverwritten) {
  WrittenTrace trace = trace_of(0, 1);
  trace.header.lost_records = 2046;
  trace.add(Kind::wait_end, 1'000'000, 0);
  trace.add(Kind::call_end, 1'000'100, put, 1, 8, 0, gex::trace::has_peer);
  trace.add(Kind::call_begin, 1'000'200, put);
  trace.add(Kind::call_end, 1'000'300, put, 1, 8, 0, gex::trace::has_peer);
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_EQ(sum.calls.at("gex_RMA_PutNB").all.count, 2U);
  ASSERT_EQ(sum.remarks.size(), 1U);
  EXPECT_EQ(sum.remarks.front(), "rank 0: 2046 early events were overwritten (GEX_TRACE_BYTES)");
}

TEST_F(ReadTest, ReadsWhatIsThereOfATruncatedFile) {
  WrittenTrace trace = trace_of(0, 1);
  for (std::uint64_t i = 0; i < 5'000; ++i)
    trace.add(i % 2 == 0 ? Kind::call_begin : Kind::call_end, 1'000'000 + i, put, 0, 1);
  const std::string whole = trace.bytes();
  const std::size_t records = 1'000;
  const std::size_t size =
      gex::trace::first_chunk + sizeof(gex::trace::ChunkHeader) + 32 * records + 20;
  std::ofstream(file(0), std::ios::binary) << whole.substr(0, size);
  EXPECT_EQ(summary().calls.at("gex_RMA_PutNB").all.count, records / 2);
  // Without a chunk there is nothing, and that is no error.
  std::ofstream(file(0), std::ios::binary) << whole.substr(0, gex::trace::first_chunk);
  EXPECT_TRUE(summary().calls.empty());
  std::ofstream(file(0), std::ios::binary) << whole.substr(0, 100);
  EXPECT_FALSE(read());
  EXPECT_EQ(why, file(0) + ": not a trace file of libgex: too short");
}

TEST_F(ReadTest, LeavesDamagedRecordsOut) {
  WrittenTrace trace = trace_of(0, 1);
  for (std::uint64_t i = 0; i < 4'092; ++i)
    trace.add(i % 2 == 0 ? Kind::call_begin : Kind::call_end, 2'000'000 + i, put, 0, 1);
  trace.add(Kind::call_begin, 3'000'000, put);
  trace.add(Kind::call_end, 3'000'001, put);
  ASSERT_EQ(trace.chunks.size(), 3U);
  // A whole chunk of noise, a number that another chunk has, and a kind that there is not.
  for (std::size_t i = 0; i < 2'046; ++i)
    std::memset(&trace.chunks[0].records[i], static_cast<int>(0x80 + i % 100), 32);
  trace.chunks[2].header.sequence = 2;
  trace.chunks[1].records[0].kind = 99;
  trace.write(file(0));
  const Summary sum = summary();
  EXPECT_EQ(sum.calls.at("gex_RMA_PutNB").all.count, 1'023U);
  ASSERT_EQ(sum.remarks.size(), 1U);
  EXPECT_EQ(sum.remarks.front(), "rank 0: 2049 records are damaged; left out");
}

TEST_F(ReadTest, RefusesWhatIsNoTrace) {
  EXPECT_FALSE(read());
  EXPECT_EQ(why, base + ".0: No such file or directory");
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(file(0), std::ios::binary) << bytes;
    EXPECT_FALSE(read());
    return why.substr(file(0).size());
  };
  EXPECT_EQ(refused(std::string(5'000, 'x')), ": not a trace file of libgex");
  WrittenTrace trace = trace_of(0, 1);
  trace.header.version = 1;
  EXPECT_EQ(refused(trace.bytes()), ": version 1 of the format; this gextrace reads 3");
  trace = trace_of(0, 1);
  trace.header.byte_order = 0x04030201;
  EXPECT_EQ(refused(trace.bytes()), ": written on a machine with another byte order");
  trace = trace_of(5, 1);
  EXPECT_EQ(refused(trace.bytes()), ": its header is damaged");
}

TEST_F(ReadTest, LeavesFilesOfOtherRunsOut) {
  trace_of(0, 2).write(file(0));
  WrittenTrace other = trace_of(1, 2);
  other.set_clock(1'000'000, -3'600'000'000'000);
  other.write(file(1));
  // A job of more ranks has left files that are not asked for.
  trace_of(2, 4).write(file(2));
  std::optional<Job> job = read();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->ranks.size(), 1U);
  EXPECT_EQ(job->remarks,
            (std::vector<std::string>{file(1) + ": of a run that ended 3600 s earlier; left out",
                                      "no trace of 1 of 2 ranks (rank 1)"}));
  trace_of(1, 4).write(file(1));
  job = read();
  EXPECT_EQ(job->remarks.front(), file(1) + ": of a job of 4 ranks, not 2; left out");
}

TEST_F(ReadTest, ReadsAThousandRanks) {
  constexpr std::uint32_t size = 1'024;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    WrittenTrace trace = trace_of(rank, size);
    trace.add(Kind::message_sent, 1'000'000 + rank, 200, (rank + 1) % size, 8, 0);
    trace.add(Kind::handler_begin, 1'100'000, 200, (rank + size - 1) % size, 8, 0);
    trace.add(Kind::handler_end, 1'100'010, 200, (rank + size - 1) % size, 8, 0);
    trace.write(file(rank));
  }
  const Summary sum = summary();
  EXPECT_EQ(sum.ranks.size(), size);
  EXPECT_EQ(sum.arrows, size);
  EXPECT_EQ(sum.messages_sent, size);
  Filter few;
  ASSERT_TRUE(parse_ranks("3,0-1", few.ranks));
  const Summary part = summary(few);
  ASSERT_EQ(part.ranks.size(), 3U);
  EXPECT_EQ(part.ranks[2].rank, 3U);
  EXPECT_EQ(part.arrows, 1U);
}

TEST(ParseRanks, RefusesWhatIsNoList) {
  std::vector<std::uint32_t> ranks;
  for (const char* text : {"", "a", "1-", "3-1", "1,,2", "1-2-3", "1 2", "99999999999"}) {
    ranks.clear();
    EXPECT_FALSE(parse_ranks(text, ranks)) << text;
  }
  ranks.clear();
  ASSERT_TRUE(parse_ranks("7,1-3,2", ranks));
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{1, 2, 3, 7}));
}

}  // namespace
}  // namespace gextrace
