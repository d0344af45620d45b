// How large a segment may be, and what happens to one that cannot be had.

#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

/// The output of the probe's `maximum`, on every rank alike.
struct Limits {
  std::uint64_t local = 0;
  std::uint64_t global = 0;
};
Limits limits_in(const std::string& line) {
  unsigned long long local = 0, global = 0;
  EXPECT_EQ(std::sscanf(line.c_str(), "local %llu global %llu", &local, &global), 2) << line;
  return {local, global};
}

Limits limits_with(const std::string& value, int ranks) {
  const Outcome outcome = job(ranks, {"maximum"}).variable("GASNET_MAX_SEGSIZE", value).run();
  expect_success(outcome, "local ", ranks);
  const Limits limits = limits_in(outcome.output);
  EXPECT_EQ(lines_with(outcome.output, outcome.output.substr(0, outcome.output.find('\n'))), ranks);
  return limits;
}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(SegmentLimit, SizesArePerProcessUnlessTheyArePerHost) {
  EXPECT_EQ(limits_with("64MB", 2).local, std::uint64_t{64} << 20);
  EXPECT_EQ(limits_with("64MB/P", 2).local, std::uint64_t{64} << 20);
  EXPECT_EQ(limits_with("128.0MB/P", 2).local, std::uint64_t{128} << 20);
  EXPECT_EQ(limits_with("64MB/H", 2).local, std::uint64_t{32} << 20);
  EXPECT_EQ(limits_with("64K", 2).local, std::uint64_t{64} << 10);
  EXPECT_EQ(limits_with(" 8 MB ", 2).local, std::uint64_t{8} << 20);
}

TEST(SegmentLimit, FractionsAreOfTheHostUnlessTheyArePerProcess) {
  const Limits third = limits_with("0.25/H", 2);
  const Limits plain = limits_with("0.25", 2);
  const Limits each = limits_with("0.125/P", 2);
  EXPECT_EQ(third.local, plain.local);
  EXPECT_EQ(third.local, each.local);
  EXPECT_GT(third.local, 0U);
  EXPECT_LE(third.local, physical_memory() / 8);
  EXPECT_EQ(limits_with("0.25/H", 4).local / (1 << 21), third.local / 2 / (1 << 21));
}

// The sizes of all processes of a host are added up.
TEST(SegmentLimit, IsAtMostWhatAFileCanBe) {
  for (const char* const value : {"18446744073709551615", "8388608T"})
    EXPECT_EQ(limits_with(value, 2).local >> 32, std::uint64_t{INT64_MAX} / 2 >> 32) << value;
}

TEST(SegmentLimit, MalformedValuesAreRefused) {
  for (const char* value :
       {"12Q", "abc", "-5", "1.5.2MB", "0.5/X", "1e9999", "3/4/H", "MB", "nan"}) {
    const Outcome outcome = job(2, {"maximum"}).variable("GASNET_MAX_SEGSIZE", value).run();
    expect_refusal(outcome, 1,
                   std::string("GASNET_MAX_SEGSIZE='") + value +
                       "' is not understood: expected an amount of memory");
    EXPECT_EQ(outcome.output, "");
  }
  expect_refusal(job(2, {"maximum"}).variable("GASNET_MAX_SEGSIZE", "0").run(), 1,
                 "GASNET_MAX_SEGSIZE leaves less than one page");
  expect_refusal(job(2, {"maximum"}).variable("GASNET_MAX_SEGSIZE", "100").run(), 1,
                 "GASNET_MAX_SEGSIZE leaves less than one page");
}

// A limit of all of the host's memory would not do, since some is always in use.
TEST(SegmentLimit, IsWhatAttachGrants) {
  for (const Network network : {Network::shared_memory, Network::emu}) {
    Command command = job(2, {"attach_maximum"});
    command.variable("GASNET_MAX_SEGSIZE", std::to_string(physical_memory()) + "/H");
    expect_success(over(command, network).run(), "attached all", 2);
  }
}

TEST(SegmentLimit, TheGlobalOneIsTheLeastOfTheJob) {
  // One rank of three is started with another limit.
  char folder[] = "/tmp/lifecycle-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string first = std::string(folder) + "/first";
  Command command({gexrun, "-n", "3", "sh", "-c",
                   "if mkdir " + first +
                       " 2>/dev/null; then export GASNET_MAX_SEGSIZE=64KB; fi; "
                       "exec " +
                       probe + " maximum"});
  command.variable("GASNET_MAX_SEGSIZE", "16MB");
  const Outcome outcome = over(command, Network::emu).run();
  rmdir(first.c_str());
  rmdir(folder);
  expect_success(outcome, " global 65536", 3);
  EXPECT_EQ(lines_with(outcome.output, "local 65536 "), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, "local 16777216 "), 2) << outcome.output;
}

/// Every rank has reported it, and the program has ended as it pleased.
void expect_bad_size(const Outcome& outcome, const std::string& why) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 91);
  EXPECT_EQ(lines_with(outcome.error, "warning: gex_Segment_Attach: the size " + why), 2)
      << outcome.error;
}

TEST(Segment, OfABadSizeIsRefusedByItsResult) {
  expect_bad_size(job(2, {"attach", "4097"}).run(), "4097 is not a non-zero multiple of 4096");
  expect_bad_size(job(2, {"attach", "0"}).run(), "0 is not a non-zero multiple of 4096");
  expect_bad_size(job(2, {"attach", "131072"}).variable("GASNET_MAX_SEGSIZE", "64KB").run(),
                  "131072 is above gasnet_getMaxLocalSegmentSize() = 65536");
}

// Clearing it would use the memory for the lack of which it may have been refused.
TEST(Segment, NotWrittenToIsNotClearedWhenRefusedByItsResult) {
  const Outcome outcome = job(2, {"refused_segment"}).run();
  expect_nothing_left(outcome);
  EXPECT_EQ(lines_with(outcome.output, "GASNET_ERR_RESOURCE, untouched"), 1) << outcome.output;
}

TEST(Segment, LargerThanTheHostsMemoryIsRefusedWithTheSums) {
  const std::uint64_t pages = physical_memory() / 4096 * 3 / 4;
  for (const char* commit : {"0", "1"}) {
    Command command = job(2, {"attach", std::to_string(pages * 4096)});
    command.variable("GASNET_MAX_SEGSIZE", std::to_string(physical_memory()));
    command.variable("GEX_SEGMENT_COMMIT", commit);
    const Outcome outcome = command.run();
    expect_refusal(
        outcome, 91,
        "gex_Segment_Attach: this host, which has 2 processes, is asked for segments of");
    EXPECT_EQ(lines_with(outcome.error, "together, but has"), 1);
    EXPECT_EQ(lines_with(outcome.output, "attached"), 0);
  }
}

TEST(Segment, CommittedAtOnce) {
  const Outcome outcome = job(2, {"fill", "67108864"}).variable("GEX_SEGMENT_COMMIT", "1").run();
  expect_success(outcome, "filled 67108864", 2);
}

TEST(Segment, OfAnotherSizeOnEachRank) {
  for (const Network network : {Network::shared_memory, Network::emu_reordered}) {
    Command command = job(4, {"uneven_segments"});
    expect_success(over(command, network).run(), "uneven", 4);
  }
}

TEST(Segment, ASecondOneIsRefusedByItsResult) {
  const Outcome reported = job(2, {"two_segments"}).run();
  expect_nothing_left(reported);
  EXPECT_EQ(reported.status, 0);
  EXPECT_EQ(lines_with(reported.output, "second segment: GASNET_ERR_RESOURCE"), 2)
      << reported.output;
  EXPECT_EQ(
      lines_with(reported.error, "warning: gex_Segment_Attach: the endpoint has a segment already"),
      2)
      << reported.error;
  expect_success(job(2, {"two_segments"}).variable("GASNET_QUIET", "1").run(),
                 "second segment: GASNET_ERR_RESOURCE", 2);
}

TEST(Segment, PublishedLateReachesTeamsMadeBefore) {
  for (const Network network : {Network::shared_memory, Network::emu_reordered}) {
    Command command = job(3, {"publish_late"});
    expect_success(over(command, network).run(), "published", 3);
  }
}

// Tools look at all that is mapped: valgrind's search for leaks, core dumps, top.
TEST(Segment, IsMappedAndDumpedAsItIsUsed) {
  for (const Network network : {Network::shared_memory, Network::emu}) {
    Command command = job(3, {"mapped_as_used"});
    expect_success(over(command, network).run(), "mapped as used", 3);
  }
}

TEST(Segment, IsInCoreDumpsUpToALimit) {
  Command command = job(2, {"dumped_segment", "3145728"});
  expect_success(command.variable("GEX_SEGMENT_DUMP", "1MB").run(), "dumped 1048576", 2);
  expect_success(command.variable("GEX_SEGMENT_DUMP", "0").run(), "dumped 0", 2);
  expect_success(job(2, {"dumped_segment", "536870912"}).run(), "dumped 268435456", 2);
}

// It reads all that can be read and written, at the end, in search of leaks: for minutes, if that
// is what segments might take at most.
TEST(Segment, UnderValgrindsSearchForLeaks) {
  Command command({gexrun, "-n", "1", "valgrind", "-q", "--error-exitcode=99", probe, "ring"});
#ifdef LIFECYCLE_TEST_OFI
  over(command, Network::ofi);
#endif
  expect_success(command.run(), " of 1", 1);
}

// Limits of the process count too: a segment within what was announced can be used to its last
// byte.

TEST(ProcessLimits, OfTheAddressSpace) {
  const Outcome maximum =
      shell("ulimit -v 4000000; exec " + gexrun + " -n 2 " + probe + " maximum").run();
  expect_success(maximum, "local ", 2);
  const Limits limits = limits_in(maximum.output);
  EXPECT_LT(limits.local * 2, std::uint64_t{4000000} << 10);
  EXPECT_GT(limits.local, std::uint64_t{100} << 20);
  expect_success(
      shell("ulimit -v 4000000; exec " + gexrun + " -n 2 " + probe + " fill 209715200").run(),
      "filled 209715200", 2);
}

TEST(ProcessLimits, OfTheSizeOfFiles) {
  // In blocks of 512 or 1024 bytes, as the shell has it.
  const Outcome maximum =
      shell("ulimit -f 300000; exec " + gexrun + " -n 2 " + probe + " maximum").run();
  expect_success(maximum, "local ", 2);
  const Limits limits = limits_in(maximum.output);
  EXPECT_LT(limits.local * 2, std::uint64_t{300000} << 10);
  const std::string all = std::to_string(limits.local / 4096 * 4096);
  expect_success(
      shell("ulimit -f 300000; exec " + gexrun + " -n 2 " + probe + " fill " + all).run(),
      "filled " + all, 2);
  expect_refusal(shell("ulimit -f 100; exec " + gexrun + " -n 2 " + probe + " maximum").run(), 1,
                 "the file size limit (ulimit -f)");
}

}  // namespace
}  // namespace lifecycle_test
