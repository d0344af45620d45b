// A segment is removed while something concerns it. Where another thread takes in a datagram, the
// thread that removes the segment waits until that datagram has been taken in (Endpoint::forget),
// so the memory is there: a datagram that is accepted is taken in whole. A get that is not complete
// by then, a mistake of the client's, is completed without a look at memory that has gone.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>
#include <vector>

#include "made_datagram.h"

namespace gex::net::udp::test {
namespace {

/// Rank 1 receives a datagram whose first record completes a get; meanwhile its segment is removed.
class RemovedSegment : public testing::Test {
 protected:
  RemovedSegment() {
    handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
    EXPECT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
    removes = [this] {
      EXPECT_EQ(ranks.segments[1]->remove(key).size, segment.size());
      removes = [] {};
    };
    ranks.hosts[1].complete = [](void* target) {
      removes();
      complete(target);
    };
    const Remote remote{0, &key, 0x1000};
    EXPECT_EQ(ranks.endpoints[1]->get(remote, got.data(), got.size(), &done, ranks.network.now),
              sent);
    const GetDataDetails data{0, 0, 0, 0};
    records.add(RecordKind::get_data, data, source);
  }

  void arrive() {
    test::arrive(ranks, records);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(ranks.segments[1]->at(key.segment, address, 1), nullptr);
    EXPECT_EQ(ranks.endpoints[1]->next_expected(0), 1U) << "it has been accepted";
  }

  static inline std::function<void()> removes;
  Ranks ranks{2, {}, {}, 0x1000, /*threaded=*/true};
  std::array<std::byte, 64> segment{};
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(segment.data());
  SegmentKey key{};
  const std::vector<std::byte> source = std::vector<std::byte>(8, std::byte{7});
  std::array<std::byte, 8> got{};
  int done = 0;
  MadeRecords records;
};

TEST_F(RemovedSegment, HasThePutsThatWereAccepted) {
  records.add(RecordKind::put, PutDetails{address + 8, key.segment, 0, 0}, source);
  arrive();
  EXPECT_EQ(std::memcmp(segment.data() + 8, source.data(), source.size()), 0);
}

TEST_F(RemovedSegment, AnswersTheGetsThatWereAccepted) {
  records.add(RecordKind::get, GetDetails{address, 16, key.segment, 0, 0});
  ranks.network.records = true;
  arrive();
  bool is_answered = false;
  for (const auto& one : ranks.network.recorded) {
    Header header{};
    std::memcpy(&header, one.bytes.data(), sizeof header);
    Records sent(one.bytes.data() + sizeof header, one.bytes.size() - sizeof header);
    is_answered |= sent.next() && sent.kind() == RecordKind::get_data && sent.size() == 16;
  }
  EXPECT_TRUE(is_answered);
}

TEST(RemovedSegmentOfAGet, IsReadNoMoreOnceItHasBeenForgotten) {
  constexpr std::byte before{7};
  constexpr std::byte after{8};
  Ranks ranks(2, {.receive_buffer = std::size_t{256} << 10, .max_datagram = 9000});
  std::vector<std::byte> segment(std::size_t{2} << 20, before);
  std::vector<std::byte> got(segment.size(), after);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(segment.data())};
  int done = 0;
  ASSERT_EQ(ranks.endpoints[0]->get(remote, got.data(), got.size(), &done, ranks.network.now),
            sent);
  // What the window allows is under way, and lost; the rest of the answer is queued.
  ranks.network.now += 10'000;
  ranks.network.cut_off(0, true);
  ranks.poll(1);
  ranks.network.cut_off(0, false);
  EXPECT_GT(ranks.endpoints[1]->counts().sent, 10U);
  EXPECT_LT(ranks.endpoints[1]->counts().sent, segment.size() / 9000);

  ranks.endpoints[1]->forget(ranks.segments[1]->remove(key));
  std::ranges::fill(segment, after);
  ASSERT_TRUE(ranks.run_until([&] { return done == 1; }));
  EXPECT_EQ(std::ranges::count(got, std::byte{0}), std::ranges::ssize(got));
  EXPECT_TRUE(ranks.settle());
}

}  // namespace
}  // namespace gex::net::udp::test
