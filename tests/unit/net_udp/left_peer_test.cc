// When a peer leaves, everything that is on its way to it, queued for it, or sent and put to it
// later counts as arrived, and nothing of it is kept.

#include <gtest/gtest.h>

#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

/// Rank 1 has a segment, has exchanged something with rank 0, and does not poll any more.
class LeftPeer : public testing::Test {
 protected:
  LeftPeer() {
    handler = [this](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {
      ++delivered;
    };
    EXPECT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
    EXPECT_EQ(ranks.send(0, request_channel, 1, message_of(0, 0, 100)), sent);
    EXPECT_TRUE(ranks.settle());
  }
  void leave() {
    ranks.endpoints[1]->send_farewells(ranks.network.now);
    poll_rank_0();
  }
  /// Until everything that is on its way to rank 0 has come.
  void poll_rank_0() {
    for (int i = 0; i < 20; ++i) {
      ranks.poll(0);
      ranks.network.now += 10'000;
    }
  }
  SendResult put(std::size_t size, void* done, void* local_done = nullptr) {
    return ranks.endpoints[0]->put(remote, source.data(), size, done, local_done,
                                   ranks.network.now);
  }

  static constexpr std::size_t more_than_any_window = std::size_t{4} << 20;
  Ranks ranks{2, {.receive_buffer = std::size_t{1} << 20, .max_datagram = 9000}};
  std::vector<std::byte> segment = std::vector<std::byte>(more_than_any_window);
  std::vector<std::byte> source = std::vector<std::byte>(more_than_any_window);
  SegmentKey key{};
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(segment.data())};
  int delivered = 0;
};

TEST_F(LeftPeer, CompletesThePutsThatWereQueuedForIt) {
  int done = 0;
  int local_done = 0;
  int small = 0;
  int flushed = 0;
  ASSERT_EQ(put(more_than_any_window, &done, &local_done), sent);
  ASSERT_EQ(put(more_than_any_window, nullptr), sent);
  int small_puts = 0;
  while (small_puts < 100 && put(4096, &small) == sent) ++small_puts;
  ASSERT_GT(small_puts, 10);
  ASSERT_EQ(ranks.endpoints[0]->flush(1, &flushed), sent);
  int messages = 0;
  while (messages < 16 && ranks.send(0, request_channel, 1, message_of(0, messages, 8000)) == sent)
    ++messages;
  ASSERT_GT(messages, 4);
  poll_rank_0();
  EXPECT_EQ(done, 0);
  EXPECT_EQ(local_done, 0);
  EXPECT_LT(small, small_puts);
  EXPECT_EQ(flushed, 0);

  leave();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(local_done, 1);
  EXPECT_EQ(small, small_puts);
  EXPECT_EQ(flushed, 1);
  EXPECT_TRUE(ranks.endpoints[0]->is_quiet());
}

TEST_F(LeftPeer, CompletesLaterPutsAtOnceAndKeepsNothingOfMessagesAndGets) {
  leave();
  const std::uint64_t datagrams = ranks.endpoints[0]->counts().sent;
  int done = 0;
  int flushed = 0;
  int got = 0;
  // More than there may be on their way.
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(put(8, &done), sent);
    ASSERT_EQ(put(10'000, &done), sent);
    ASSERT_EQ(put(8, nullptr), sent);
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 1, 16'000)), sent);
    ranks.network.now += 100;
  }
  EXPECT_EQ(done, 10'000);
  ASSERT_EQ(ranks.endpoints[0]->flush(1, &flushed), sent);
  EXPECT_EQ(flushed, 1);
  ASSERT_EQ(ranks.endpoints[0]->get(remote, source.data(), 8, &got, ranks.network.now), sent);
  poll_rank_0();
  EXPECT_EQ(got, 0);
  EXPECT_TRUE(ranks.endpoints[0]->is_quiet());
  EXPECT_EQ(ranks.endpoints[0]->counts().sent, datagrams);
}

// Its datagrams may arrive in another order than it has sent them.
TEST_F(LeftPeer, IsNotAnswered) {
  SegmentKey own{};
  ASSERT_TRUE(ranks.segments[0]->add(source.data(), source.size(), own));
  ranks.network.records = true;
  ranks.network.cut_off(0, true);
  for (const std::size_t size : {std::size_t{8}, more_than_any_window}) {
    int got = 0;
    const Remote at_rank_0{0, &own, reinterpret_cast<std::uint64_t>(source.data())};
    ASSERT_EQ(ranks.endpoints[1]->get(at_rank_0, segment.data(), size, &got, ranks.network.now),
              sent);
  }
  ranks.network.cut_off(0, false);
  ranks.network.records = false;
  ASSERT_EQ(ranks.network.recorded.size(), 2U);
  leave();
  for (const auto& late : ranks.network.recorded) {
    ranks.network.inject(0, late.bytes, late.from);
    poll_rank_0();
  }
  EXPECT_EQ(ranks.endpoints[0]->next_expected(1), 2U);
  EXPECT_TRUE(ranks.endpoints[0]->is_quiet());
}

}  // namespace
}  // namespace gex::net::udp::test
