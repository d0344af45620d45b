// Senders stay within what the way and their receivers have room for, and use it.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

void ignore(std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {
}

/// Puts of many ranks into the memory of one, each some under way at a time; `mutual`: of that one,
/// too, to rank 1.
class Puts {
 public:
  Puts(Ranks& ranks, std::size_t size, std::uint32_t under_way, bool mutual = false)
      : ranks_(ranks),
        memory_(size),
        source_(size),
        under_way_(under_way),
        senders_(ranks.size()),
        first_(mutual ? 0 : 1) {
    handler = ignore;
    for (const std::uint32_t target : {0U, 1U})
      EXPECT_TRUE(ranks.segments[target]->add(memory_.data(), size, keys_[target]));
  }
  /// Until so many bytes of each sender have arrived; each may stop to poll for a while.
  bool run(std::size_t each, Time step = 1000) {
    const Time limit = ranks_.network.now + 60'000'000'000;
    for (bool all = false; !all && ranks_.network.now < limit;) {
      all = true;
      for (std::uint32_t rank = first_; rank < ranks_.size(); ++rank) {
        Sender& sender = senders_[rank];
        const auto target = static_cast<int>(each / source_.size());
        all &= sender.done >= target;
        while (sender.started < target &&
               sender.started - sender.done < static_cast<int>(under_way_)) {
          const std::uint32_t peer = rank == 0 ? 1 : 0;
          const Remote to{peer, &keys_[peer], reinterpret_cast<std::uint64_t>(memory_.data())};
          if (ranks_.endpoints[rank]->put(to, source_.data(), source_.size(), &sender.done, nullptr,
                                          ranks_.network.now) != sent)
            break;
          ++sender.started;
        }
      }
      ranks_.step(step);
    }
    return ranks_.network.now < limit;
  }

 private:
  struct Sender {
    int started = 0;
    int done = 0;
  };
  Ranks& ranks_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> source_;
  std::uint32_t under_way_;
  std::deque<Sender> senders_;
  std::uint32_t first_;
  SegmentKey keys_[2] = {};
};

std::uint64_t sent_again(const Ranks& ranks) {
  std::uint64_t all = 0;
  for (const auto& endpoint : ranks.endpoints) all += endpoint->counts().sent_again;
  return all;
}

TEST(Flow, ASlowLinkIsFilledWithoutALongQueueAndNothingIsSentAgain) {
  Ranks ranks(2, {.delay = 20'000,
                  .rate = gigabit,
                  .queue = std::size_t{8} << 20,
                  .receive_buffer = std::size_t{12} << 20,
                  .max_datagram = 1472,
                  .joins = true});
  Puts puts(ranks, 1 << 20, 8);
  constexpr std::size_t bytes = std::size_t{24} << 20;
  const Time begin = ranks.network.now;
  ASSERT_TRUE(puts.run(bytes, 10'000));
  const auto taken = static_cast<double>(ranks.network.now - begin);
  EXPECT_LT(taken, 1.15 * bytes / gigabit);
  EXPECT_LT(ranks.network.longest_queue(), std::size_t{1} << 20);
  EXPECT_LT(sent_again(ranks), 20U);
  ASSERT_TRUE(ranks.settle());
}

/// Repetitions, drops and time of a transfer over a link of 1 Gbit/s with a queue of 40 packets.
struct Outcome {
  std::uint64_t again;
  std::uint64_t dropped;
  double taken;  ///< of what the link alone takes
};
Outcome over_a_short_queue(bool is_paced, bool mutual, Time delay) {
  Ranks ranks(2, {.delay = delay,
                  .rate = gigabit,
                  .queue = 40 * 1472,
                  .receive_buffer = std::size_t{12} << 20,
                  .max_datagram = 1472,
                  .joins = true,
                  .is_paced = is_paced});
  Puts puts(ranks, 1 << 20, 4, mutual);
  constexpr std::size_t bytes = std::size_t{24} << 20;
  const Time begin = ranks.network.now;
  EXPECT_TRUE(puts.run(bytes, 5'000));
  const auto taken = static_cast<double>(ranks.network.now - begin);
  EXPECT_TRUE(ranks.settle());
  return {sent_again(ranks), ranks.network.dropped(), taken * gigabit / bytes};
}

// With a window of a mebibyte more than the way carries 7.5% were lost and sent again.
TEST(Flow, AWindowShrinksToWhatAShortQueueHolds) {
  for (const Time delay : {20'000U, 200'000U}) {
    const Outcome outcome = over_a_short_queue(true, false, delay);
    EXPECT_LT(outcome.dropped, 500U) << delay << ", of 17100";
    EXPECT_LT(outcome.again, 500U) << delay;
    EXPECT_LT(outcome.taken, 1.1) << delay;
  }
}

// Each way the queue holds acknowledgements, too, and they come in rows.
TEST(Flow, WhatIsSpreadLeavesAShortQueueRoomForTheOtherWay) {
  const Outcome in_bursts = over_a_short_queue(false, true, 200'000);
  const Outcome paced = over_a_short_queue(true, true, 200'000);
  EXPECT_LT(paced.taken, 0.85 * in_bursts.taken);
  EXPECT_LT(paced.taken, 1.2);
}

// A process that computes acknowledges late: that means nothing for the network.
TEST(Flow, AReceiverThatIsOftenAwayIsSentAsMuchAsItHasRoomFor) {
  Ranks ranks(2, {.delay = 20'000,
                  .rate = 10 * gigabit,
                  .queue = std::size_t{8} << 20,
                  .receive_buffer = std::size_t{12} << 20,
                  .max_datagram = 1472,
                  .joins = true});
  Puts puts(ranks, 1 << 20, 8);
  ASSERT_TRUE(puts.run(std::size_t{8} << 20));
  // With acknowledgements every 2 ms, a window of 64 KiB would take 256 ms.
  const Time begin = ranks.network.now;
  ASSERT_TRUE(puts.run(std::size_t{16} << 20, 2'000'000));
  EXPECT_LT(ranks.network.now - begin, 60'000'000U);
  EXPECT_LT(sent_again(ranks), 1000U);
  ASSERT_TRUE(ranks.settle());
}

// A small receive buffer and large datagrams: of 16 senders each has room for less than one.
TEST(Flow, ManySendersDoNotOverflowASmallBufferAndAreAsFastAsTwo) {
  Time taken[2];
  for (const std::uint32_t senders : {2U, 16U}) {
    Ranks ranks(senders + 1, {.rate = 10 * gigabit, .queue = 1 << 20, .receive_buffer = 320'000});
    Puts puts(ranks, 1 << 18, 4);
    const Time begin = ranks.network.now;
    ASSERT_TRUE(puts.run((std::size_t{32} << 20) / senders));
    taken[senders / 16] = ranks.network.now - begin;
    EXPECT_LT(ranks.network.overflowed(), 40U) << senders;
    ASSERT_TRUE(ranks.settle());
  }
  EXPECT_LT(static_cast<double>(taken[1]) * 0.7, static_cast<double>(taken[0]));
}

}  // namespace
}  // namespace gex::net::udp::test
