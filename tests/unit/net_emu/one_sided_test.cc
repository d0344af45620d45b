// Puts and gets under way, on a clock that the test turns.

#include "net/emu/one_sided.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "segment_file.h"

namespace gex::net::emu {
namespace {

std::vector<const void*> reported;

void note(void* target) {
  reported.push_back(target);
}

class EmuOneSided : public WithSegmentFile {
 protected:
  EmuOneSided() : segments(host, layout, network.bytes()) {
    host.complete = note;
    reported.clear();
    segments.open_all();
    EXPECT_EQ(segments.enter(own_part, part_size, &key), 0);
    EXPECT_EQ(own_part[0], std::byte{0});
  }

  Remote here(std::size_t offset = 0) const { return at(key, own_part + offset); }
  bool is_written(const char* text, std::size_t offset = 0) const {
    return std::memcmp(own_part + offset, text, std::strlen(text)) == 0;
  }

  Segments segments;
  Segments::Key key{};
  int done = 0;
  int local_done = 0;
};

TEST_F(EmuOneSided, WithoutAModelAreCompleteAtOnce) {
  OneSided one_sided(host, segments, nullptr, 0, 1);
  char got[5] = {};
  EXPECT_EQ(one_sided.put(here(), "late", 5, &done, &local_done, 0), sent);
  EXPECT_TRUE(is_written("late"));
  EXPECT_EQ(reported, (std::vector<const void*>{&local_done, &done}));
  EXPECT_EQ(one_sided.get(here(), got, 5, &done, 0), sent);
  EXPECT_STREQ(got, "late");
  EXPECT_EQ(reported.size(), 3u);
  EXPECT_FALSE(one_sided.any());
}

/// Pieces of both ends that do not fit one another: 7 bytes behind 100, 5 behind 20.
struct TwoByThree {
  const std::byte* first;
  RemotePiece there[2] = {{reinterpret_cast<std::uintptr_t>(first) + 100, 7},
                          {reinterpret_cast<std::uintptr_t>(first) + 20, 5}};
  char source[3][8] = {"ab", "cdefghi", "jkl"};
  LocalPiece here[3] = {{source[0], 2}, {source[1], 7}, {source[2], 3}};
};

TEST_F(EmuOneSided, OfSeveralPiecesGoWhereTheyBelong) {
  OneSided one_sided(host, segments, nullptr, 0, 1);
  TwoByThree pieces{own_part};
  ASSERT_EQ(one_sided.put_pieces(here(), pieces.there, pieces.here, &done, &local_done, 0), sent);
  EXPECT_EQ(reported, (std::vector<const void*>{&local_done, &done}));
  EXPECT_TRUE(is_written("abcdefg", 100));
  EXPECT_TRUE(is_written("hijkl", 20));
  for (const std::size_t beside : {19, 25, 99, 107}) EXPECT_EQ(own_part[beside], std::byte{0});
  std::memset(pieces.source, 0, sizeof pieces.source);
  ASSERT_EQ(one_sided.get_pieces(here(), pieces.there, pieces.here, &done, 0), sent);
  EXPECT_STREQ(pieces.source[0], "ab");
  EXPECT_STREQ(pieces.source[1], "cdefghi");
  EXPECT_STREQ(pieces.source[2], "jkl");
  EXPECT_EQ(reported.size(), 3u);
}

class EmuTimedOneSided : public EmuOneSided {
 protected:
  EmuTimedOneSided()
      : ports(timing_of(Model{.latency = 1000, .bandwidth = 1e9}, 1e9), layout, network.bytes(), 0,
              0) {}
  Ports ports;
};

TEST_F(EmuTimedOneSided, AreReportedAtTheModelsTime) {
  OneSided one_sided(host, segments, &ports, 0, 8);
  ASSERT_EQ(one_sided.put(here(), "bytes", 5, &done, &local_done, 100), sent);
  EXPECT_TRUE(one_sided.any());
  EXPECT_EQ(one_sided.poll(104), 0u);
  EXPECT_EQ(one_sided.poll(105), 1u);
  EXPECT_EQ(reported, std::vector<const void*>{&local_done});
  EXPECT_EQ(one_sided.poll(2104), 0u);
  EXPECT_EQ(one_sided.poll(2105), 1u);
  EXPECT_EQ(reported.back(), &done);
  EXPECT_TRUE(is_written("bytes"));
  EXPECT_FALSE(one_sided.any());
}

TEST_F(EmuTimedOneSided, OfSeveralPiecesTakeOneLatencyAndTheBytesOfAll) {
  OneSided one_sided(host, segments, &ports, 0, 8);
  TwoByThree pieces{own_part};
  ASSERT_EQ(one_sided.put_pieces(here(), pieces.there, pieces.here, &done, &local_done, 100), sent);
  EXPECT_EQ(one_sided.poll(111), 0u);
  EXPECT_EQ(one_sided.poll(112), 1u);
  EXPECT_EQ(one_sided.poll(2111), 0u);
  EXPECT_EQ(one_sided.poll(2112), 1u);
  ASSERT_EQ(one_sided.get_pieces(here(), pieces.there, pieces.here, &done, 3000), sent);
  EXPECT_EQ(one_sided.poll(5011), 0u);
  EXPECT_EQ(one_sided.poll(5012), 1u);
  EXPECT_FALSE(one_sided.any());
}

TEST_F(EmuTimedOneSided, AFlushIsCompleteAfterThePutsBeforeItAndNoOthers) {
  OneSided one_sided(host, segments, &ports, 0, 8);
  int flushed = 0;
  ASSERT_EQ(one_sided.flush(0, &flushed), sent);
  EXPECT_EQ(reported, std::vector<const void*>{&flushed}) << "nothing is under way";
  ASSERT_EQ(one_sided.put(here(), "late", 4, &done, nullptr, 0), sent);
  ASSERT_EQ(one_sided.flush(0, &flushed), sent);
  EXPECT_EQ(reported.size(), 2u) << "that put is reported by itself";
  ASSERT_EQ(one_sided.put(here(), "bytes", 5, nullptr, nullptr, 100), sent);
  ASSERT_EQ(one_sided.flush(0, &flushed), sent);
  ASSERT_EQ(one_sided.put(here(), "more bytes", 10, nullptr, nullptr, 2000), sent);
  reported.clear();
  EXPECT_EQ(one_sided.poll(2104), 1u);
  EXPECT_EQ(reported, std::vector<const void*>{&done});
  EXPECT_EQ(one_sided.poll(2105), 1u);
  EXPECT_EQ(reported.back(), &flushed);
  EXPECT_TRUE(one_sided.any());
  EXPECT_EQ(one_sided.poll(5000), 0u) << "the last one is not reported";
  EXPECT_FALSE(one_sided.any());
}

TEST_F(EmuTimedOneSided, RegisterLargeLocalMemoryThatIsInNoSegment) {
  Ports costly(timing_of(Model{.registration = 700}, 1e9), layout, network.bytes(), 0, 0);
  OneSided one_sided(host, segments, &costly, 0, 8);
  static std::byte elsewhere[8192];
  const auto complete_by = [&](Tick now) {
    const std::size_t before = reported.size();
    one_sided.poll(now);
    return reported.size() != before;
  };
  ASSERT_EQ(one_sided.put(here(), elsewhere, 4096, &done, nullptr, 0), sent);
  EXPECT_TRUE(complete_by(0));
  ASSERT_EQ(one_sided.put(here(), own_part + 8192, 8192, &done, nullptr, 0), sent);
  EXPECT_TRUE(complete_by(0));
  ASSERT_EQ(one_sided.put(here(), elsewhere, 8192, &done, nullptr, 0), sent);
  EXPECT_FALSE(complete_by(699));
  EXPECT_TRUE(complete_by(700));
}

TEST_F(EmuTimedOneSided, FindWhatAnAdapterKeepsRegistered) {
  const std::unique_ptr<Adapter> adapter = Adapter::start(host, 1 << 20);
  if (!adapter) GTEST_SKIP() << "userfaultfd cannot be had";
  Ports costly(timing_of(Model{.registration = 700}, 1e9), layout, network.bytes(), 0, 0);
  OneSided one_sided(host, segments, &costly, 0, 8, adapter.get());
  const os::Mapping elsewhere = os::Mapping::anonymous(8192);
  ASSERT_EQ(one_sided.put(here(), elsewhere.data(), 8192, &done, nullptr, 0), sent);
  EXPECT_EQ(one_sided.poll(699), 0u);
  EXPECT_EQ(one_sided.poll(700), 1u);
  ASSERT_EQ(one_sided.get(here(), elsewhere.data(), 8192, &done, 800), sent);
  EXPECT_EQ(one_sided.poll(800), 1u);
  // Until the memory is another one.
  ASSERT_EQ(madvise(elsewhere.data(), 8192, MADV_DONTNEED), 0);
  ASSERT_EQ(one_sided.get(here(), elsewhere.data(), 8192, &done, 900), sent);
  EXPECT_EQ(one_sided.poll(1599), 0u);
  EXPECT_EQ(one_sided.poll(1600), 1u);
}

/// The completions that threads have seen, each a counter.
void count_up(void* target) {
  static_cast<std::atomic<int>*>(target)->fetch_add(1, std::memory_order_release);
}

class EmuTransferThreads : public EmuTimedOneSided,
                           public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, EmuTransferThreads, testing::Values(0, 5));

// Every thread puts to and gets from places of its own, and adds to one of all ranks.
TEST_P(EmuTransferThreads, LoseNothing) {
  constexpr int threads = 4;
  constexpr std::uint64_t rounds = 300;
  host.threaded = 1;
  host.complete = count_up;
  OneSided one_sided(host, segments, &ports, GetParam(), 3);
  std::atomic<std::uint64_t> clock{0};
  std::atomic<int> wrong{0};
  const auto work = [&](int thread) {
    std::atomic<int> reported_here{0};
    int expected = 0;
    const auto wait_for = [&](auto begin) {
      while (begin() == would_block) one_sided.poll(clock += 100);
      ++expected;
      while (reported_here.load(std::memory_order_acquire) != expected)
        one_sided.poll(clock += 100);
    };
    const Remote own_place = here(64 + 8 * static_cast<std::size_t>(thread));
    const std::uint64_t one = 1;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      std::uint64_t got = ~i;
      wait_for([&] { return one_sided.put(own_place, &i, 8, &reported_here, nullptr, clock); });
      wait_for([&] { return one_sided.get(own_place, &got, 8, &reported_here, clock); });
      if (got != i) ++wrong;
      wait_for([&] {
        return one_sided.atomic(here(), GEX_DT_U64, GEX_OP_ADD, &one, &one, nullptr, &reported_here,
                                clock);
      });
    }
  };
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) running.emplace_back(work, thread);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(wrong, 0);
  std::uint64_t sum;
  std::memcpy(&sum, own_part, sizeof sum);
  EXPECT_EQ(sum, threads * rounds);
  EXPECT_FALSE(one_sided.any());
}

TEST_F(EmuTimedOneSided, BeyondTheDepthAreRefusedUntilOneIsComplete) {
  OneSided one_sided(host, segments, &ports, 0, 2);
  char got[8];
  EXPECT_EQ(one_sided.put(here(), "x", 1, &done, nullptr, 0), sent);
  EXPECT_EQ(one_sided.get(here(), got, 8, &done, 0), sent);
  EXPECT_EQ(one_sided.put(here(), "y", 1, &done, nullptr, 0), would_block);
  EXPECT_EQ(one_sided.get(here(), got, 8, &done, 0), would_block);
  EXPECT_TRUE(is_written("x"));
  EXPECT_EQ(one_sided.poll(5000), 2u);
  EXPECT_EQ(one_sided.put(here(), "y", 1, &done, nullptr, 5000), sent);
}

using EmuSeededOneSided = EmuOneSided;

TEST_F(EmuSeededOneSided, AreWrittenLateAndTheSourceIsReadBeforeItIsReportedReusable) {
  bool late = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    OneSided one_sided(host, segments, nullptr, seed, 1);
    std::memset(own_part, 0, 8);
    reported.clear();
    char source[] = "source";
    ASSERT_EQ(one_sided.put(here(), source, sizeof source, &done, &local_done, 0), sent);
    late |= !is_written("source");
    while (reported.empty()) one_sided.poll(0);
    ASSERT_EQ(reported.front(), &local_done);
    std::memset(source, 'x', sizeof source);
    while (one_sided.any()) one_sided.poll(0);
    EXPECT_EQ(reported.back(), &done);
    EXPECT_TRUE(is_written("source"));
  }
  EXPECT_TRUE(late);
}

TEST_F(EmuSeededOneSided, OfPiecesReadTheirSourcesBeforeTheyAreReportedReusable) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    OneSided one_sided(host, segments, nullptr, seed, 1);
    std::memset(own_part, 0, 128);
    reported.clear();
    TwoByThree pieces{own_part};
    ASSERT_EQ(one_sided.put_pieces(here(), pieces.there, pieces.here, &done, &local_done, 0), sent);
    // The lists are the caller's again.
    std::memset(pieces.there, 0, sizeof pieces.there);
    std::memset(pieces.here, 0, sizeof pieces.here);
    while (reported.empty()) one_sided.poll(0);
    ASSERT_EQ(reported.front(), &local_done);
    std::memset(pieces.source, 'x', sizeof pieces.source);
    while (one_sided.any()) one_sided.poll(0);
    EXPECT_EQ(reported.back(), &done);
    EXPECT_TRUE(is_written("abcdefg", 100));
    EXPECT_TRUE(is_written("hijkl", 20));
  }
}

TEST_F(EmuSeededOneSided, AFlushComesWhenThePutsBeforeItAreWritten) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    OneSided one_sided(host, segments, nullptr, seed, 20);
    std::memset(own_part, 0, 256);
    reported.clear();
    for (std::size_t i = 0; i < 20; ++i)
      ASSERT_EQ(one_sided.put(here(i * 8), "flushed", 8, nullptr, nullptr, 0), sent);
    ASSERT_EQ(one_sided.flush(0, &done), sent);
    while (reported.empty()) one_sided.poll(0);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_TRUE(is_written("flushed", i * 8)) << i;
    while (one_sided.any()) one_sided.poll(0);
    EXPECT_EQ(reported, std::vector<const void*>{&done});
  }
}

TEST_F(EmuSeededOneSided, OfASourceThatStaysAreReadAndWrittenLate) {
  bool read_late = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    OneSided one_sided(host, segments, nullptr, seed, 1);
    char source[] = "early";
    ASSERT_EQ(one_sided.put(here(), source, sizeof source, &done, nullptr, 0), sent);
    std::memcpy(source, "later", sizeof source);
    while (one_sided.any()) one_sided.poll(0);
    read_late |= is_written("later");
  }
  EXPECT_TRUE(read_late);
}

/// The order in which ten puts and ten gets complete.
std::vector<const void*> order_under(OneSided& one_sided, const std::vector<Remote>& places) {
  static char bytes[20][8];
  reported.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i % 2 == 0)
      EXPECT_EQ(one_sided.put(places[i], bytes[i], 8, bytes[i], nullptr, 0), sent);
    else
      EXPECT_EQ(one_sided.get(places[i], bytes[i], 8, bytes[i], 0), sent);
  }
  while (one_sided.any()) one_sided.poll(0);
  return reported;
}

TEST_F(EmuSeededOneSided, CompleteInAnyOrderThatIsTheSameUnderTheSameSeed) {
  std::vector<Remote> places;
  for (std::size_t i = 0; i < 20; ++i) places.push_back(here(i * 8));
  std::vector<std::vector<const void*>> orders;
  for (const std::uint64_t seed : {1, 2, 3}) {
    OneSided first(host, segments, nullptr, seed, 20);
    OneSided again(host, segments, nullptr, seed, 20);
    orders.push_back(order_under(first, places));
    EXPECT_EQ(orders.back().size(), places.size());
    EXPECT_EQ(order_under(again, places), orders.back());
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST_F(EmuSeededOneSided, AreCarriedOutAtTheEndOfTheNetwork) {
  OneSided one_sided(host, segments, nullptr, 3, 20);
  for (std::size_t i = 0; i < 20; ++i)
    ASSERT_EQ(one_sided.put(here(i * 8), "the end", 8, &done, nullptr, 0), sent);
  one_sided.finish();
  for (std::size_t i = 0; i < 20; ++i) EXPECT_TRUE(is_written("the end", i * 8)) << i;
}

TEST_F(EmuOneSided, OperateAtomically) {
  OneSided one_sided(host, segments, nullptr, 0, 1);
  const std::int32_t start = -5;
  std::memcpy(own_part + 8, &start, sizeof start);
  const std::int32_t operand = 7;
  const std::int32_t nothing = 0;
  std::int32_t result[2] = {0, 99};
  EXPECT_EQ(
      one_sided.atomic(here(8), GEX_DT_I32, GEX_OP_FADD, &operand, &nothing, result, &done, 0),
      sent);
  EXPECT_EQ(result[0], -5);
  EXPECT_EQ(result[1], 99);
  EXPECT_EQ(
      one_sided.atomic(here(8), GEX_DT_I32, GEX_OP_MULT, &operand, &nothing, nullptr, &done, 0),
      sent);
  std::int32_t found;
  std::memcpy(&found, own_part + 8, sizeof found);
  EXPECT_EQ(found, 14);
  EXPECT_EQ(reported.size(), 2u);
}

TEST_F(EmuSeededOneSided, OperateLateOnOperandsThatWereReadAtOnce) {
  bool late = false;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    OneSided one_sided(host, segments, nullptr, seed, 1);
    std::memset(own_part, 0, 8);
    double operand = 1.5;
    const double nothing = 0;
    double result = -1;
    ASSERT_EQ(
        one_sided.atomic(here(), GEX_DT_DBL, GEX_OP_FADD, &operand, &nothing, &result, &done, 0),
        sent);
    operand = 8;
    double found;
    std::memcpy(&found, own_part, sizeof found);
    late |= found == 0;
    while (one_sided.any()) one_sided.poll(0);
    std::memcpy(&found, own_part, sizeof found);
    EXPECT_EQ(found, 1.5);
    EXPECT_EQ(result, 0);
  }
  EXPECT_TRUE(late);
}

}  // namespace
}  // namespace gex::net::emu
