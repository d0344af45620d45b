#include "base/trace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace gex::trace {
namespace {

constexpr std::uint64_t room_for(unsigned chunks) {
  return first_chunk + chunks * chunk_bytes;
}

/// A trace file as it lies on the disk.
struct Content {
  explicit Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    bytes.resize(std::max(bytes.size(), first_chunk));
    std::memcpy(&header, bytes.data(), sizeof header);
    for (std::size_t at = first_chunk; at + chunk_bytes <= bytes.size(); at += chunk_bytes) {
      ChunkHeader chunk;
      std::memcpy(&chunk, &bytes[at], sizeof chunk);
      if (chunk.sequence == 0) continue;
      std::vector<Record>& records = chunks[chunk.sequence];
      threads.insert(chunk.thread);
      for (std::size_t i = 0; i < records_per_chunk; ++i) {
        Record record;
        std::memcpy(&record, &bytes[at + sizeof chunk + i * sizeof record], sizeof record);
        if (record.kind != 0) records.push_back(record);
      }
    }
  }
  std::vector<Record> records() const {
    std::vector<Record> all;
    for (const auto& [sequence, of_chunk] : chunks)
      all.insert(all.end(), of_chunk.begin(), of_chunk.end());
    return all;
  }

  std::string bytes;
  FileHeader header;
  std::map<std::uint64_t, std::vector<Record>> chunks;
  std::set<std::uint32_t> threads;
};

/// Adds records with the ids `first` to `last`.
void add(Cursor& cursor, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t id = first; id <= last; ++id) cursor.add(3, 1, 7, 2, 64, id, ticks());
}

class TraceFileTest : public testing::Test {
 protected:
  std::string open(TraceFile& file, std::uint64_t bytes) {
    return file.open(path, bytes, {.rank = 5, .job_size = 8});
  }
  TemporaryFolder folder;
  std::string path = folder.path() + "/trace.5";
};

TEST_F(TraceFileTest, HasWhatWasRecorded) {
  TraceFile file;
  ASSERT_EQ(open(file, room_for(4)), "");
  file.name(1, 7, "gex_RMA_PutBlocking");
  Cursor cursor(file, 1);
  add(cursor, 1, 10);
  const Content content(path);
  EXPECT_EQ(std::memcmp(content.header.magic, magic, sizeof magic), 0);
  EXPECT_EQ(content.header.version, format_version);
  EXPECT_EQ(content.header.rank, 5U);
  EXPECT_EQ(content.header.job_size, 8U);
  EXPECT_EQ(content.header.process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(content.header.closed, 0U);
  EXPECT_NE(std::strstr(content.header.program, "base_trace_file_test"), nullptr);
  EXPECT_GT(content.header.first.realtime_ns, 0U);
  Name name;
  std::memcpy(&name, &content.bytes[header_bytes], sizeof name);
  EXPECT_EQ(name.space, 1U);
  EXPECT_EQ(name.number, 7U);
  EXPECT_STREQ(name.text, "gex_RMA_PutBlocking");
  const std::vector<Record> records = content.records();
  ASSERT_EQ(records.size(), 10U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].id, i + 1);
    EXPECT_EQ(records[i].what, 7U);
    EXPECT_EQ(records[i].peer, 2U);
    EXPECT_EQ(records[i].bytes, 64U);
    if (i > 0) {
      EXPECT_GE(records[i].ticks, records[i - 1].ticks);
    }
  }
  file.close();
  EXPECT_EQ(Content(path).header.closed, 1U);
}

TEST_F(TraceFileTest, KeepsTheLatestAndCountsTheRest) {
  TraceFile file;
  ASSERT_EQ(open(file, room_for(4)), "");
  Cursor cursor(file, 1);
  constexpr std::uint64_t count = 10 * records_per_chunk + 5;
  add(cursor, 1, count);
  const Content content(path);
  EXPECT_EQ(content.bytes.size(), room_for(4));
  const std::vector<Record> records = content.records();
  ASSERT_EQ(records.size(), 3 * records_per_chunk + 5);
  EXPECT_EQ(records.front().id, count - records.size() + 1);
  EXPECT_EQ(records.back().id, count);
  EXPECT_EQ(content.header.lost_records, count - records.size());
  // Its anchors are of the beginning and of the last chunk.
  const Anchor& latest = content.header.latest[content.header.latest_index & 1];
  EXPECT_GT(latest.ticks, content.header.first.ticks);
  EXPECT_GE(latest.monotonic_ns, content.header.first.monotonic_ns);
}

TEST_F(TraceFileTest, KeepsAChunkThatAThreadRecordsIn) {
  TraceFile file;
  ASSERT_EQ(open(file, room_for(4)), "");
  Cursor slow(file, 1);
  Cursor fast(file, 2);
  add(slow, 1'000'000, 1'000'000);
  add(fast, 1, 20 * records_per_chunk);
  add(slow, 1'000'001, 1'000'001);
  const std::vector<Record> records = Content(path).records();
  std::vector<std::uint64_t> of_slow;
  for (const Record& record : records)
    if (record.id >= 1'000'000) of_slow.push_back(record.id);
  EXPECT_EQ(of_slow, (std::vector<std::uint64_t>{1'000'000, 1'000'001}));
  EXPECT_EQ(records.back().id, 20 * records_per_chunk);
}

TEST_F(TraceFileTest, CountsWhatFindsNoChunk) {
  TraceFile file;
  ASSERT_EQ(open(file, room_for(4)), "");
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (std::uint32_t thread = 1; thread <= 5; ++thread) {
    cursors.push_back(std::make_unique<Cursor>(file, thread));
    add(*cursors.back(), thread, thread);
  }
  EXPECT_EQ(Content(path).records().size(), 4U);
  add(*cursors[4], 6, 5 + records_per_chunk);
  EXPECT_EQ(Content(path).header.lost_records, records_per_chunk);
}

TEST_F(TraceFileTest, TakesRecordsOfManyThreads) {
  TraceFile file;
  constexpr unsigned count = 8;
  constexpr std::uint64_t each = 5 * records_per_chunk;
  ASSERT_EQ(open(file, room_for(6 * count)), "");
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < count; ++thread)
    threads.emplace_back([&file, thread] {
      Cursor cursor(file, thread + 1);
      add(cursor, thread * each, (thread + 1) * each - 1);
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> ids;
  for (const Record& record : Content(path).records()) ids.insert(record.id);
  EXPECT_EQ(ids.size(), count * each);
}

TEST_F(TraceFileTest, OutlivesAProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto* file = new TraceFile;
    if (!open(*file, room_for(4)).empty()) _exit(1);
    auto* cursor = new Cursor(*file, 1);
    for (std::uint64_t id = 1;; ++id) {
      cursor->add(3, 1, 7, 2, 64, id, ticks());
      if (id == 3000 && write(ready[1], "r", 1) != 1) _exit(1);
    }
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  const Content content(path);
  EXPECT_EQ(content.header.closed, 0U);
  const std::vector<Record> records = content.records();
  ASSERT_GE(records.size(), 2000U);
  for (std::size_t i = 1; i < records.size(); ++i) ASSERT_EQ(records[i].id, records[i - 1].id + 1);
}

TEST_F(TraceFileTest, GoesOnInWhatFitsWhenTheDiskIsFull) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit few = before;
  few.rlim_cur = room_for(2) + 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
  TraceFile file;
  const std::string why = open(file, room_for(100));
  constexpr std::uint64_t count = 10 * records_per_chunk;
  testing::internal::CaptureStderr();
  Cursor cursor(file, 1);
  add(cursor, 1, count);
  const std::string output = testing::internal::GetCapturedStderr();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(why, "");
  EXPECT_NE(output.find("trace file " + path + ": File too large after "), output.npos) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1);
  const Content content(path);
  EXPECT_EQ(content.header.disk_full, 1U);
  const std::vector<Record> records = content.records();
  EXPECT_EQ(records.size(), 2 * records_per_chunk);
  EXPECT_EQ(records.back().id, count);
}

TEST_F(TraceFileTest, ReplacesAFileWithoutChangingIt) {
  auto first = std::make_unique<TraceFile>();
  ASSERT_EQ(open(*first, room_for(4)), "");
  Cursor old(*first, 1);
  add(old, 1, 1);
  TraceFile second;
  ASSERT_EQ(open(second, room_for(4)), "");
  // The pages of the file that the first has mapped are still there.
  add(old, 2, 3 * records_per_chunk);
  EXPECT_EQ(Content(path).records().size(), 0U);
}

TEST_F(TraceFileTest, NamesTheReasonForAFailure) {
  TraceFile file;
  EXPECT_EQ(file.open(folder.path(), room_for(4), {}),
            "trace file " + folder.path() + ": it cannot be created: Is a directory");
  EXPECT_EQ(
      file.open(folder.path() + "/no/trace", room_for(4), {}),
      "trace file " + folder.path() + "/no/trace: it cannot be created: No such file or directory");
  EXPECT_EQ(open(file, 1000), "a trace of 1000 bytes is too small: it takes at least 324 KiB");
  EXPECT_FALSE(file.is_open());
}

}  // namespace
}  // namespace gex::trace
