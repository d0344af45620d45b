// emu between several ranks of one process: what a conduit promises, order, and nonsense from
// peers.

#include "net/emu/network.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "ranks.h"

namespace gex::net::emu {
namespace {

TEST(EmuLayout, QueuesLieApartAndAreFoundAgain) {
  for (const auto& [ranks, depth] : {std::pair{2u, 1u}, {5u, 3u}, {17u, 64u}}) {
    const Layout layout(ranks, depth);
    std::size_t end = 0;
    for (std::uint32_t target = 0; target < ranks; ++target)
      for (std::uint32_t channel = 0; channel < 2; ++channel)
        for (std::uint32_t source = 0; source < ranks; ++source) {
          const std::size_t at = layout.sent(source, target, channel);
          ASSERT_GE(at, end);
          end = at + sizeof(std::uint64_t);
        }
    for (std::uint32_t target = 0; target < ranks; ++target)
      for (std::uint32_t source = 0; source < ranks; ++source)
        for (std::uint32_t channel = 0; channel < 2; ++channel) {
          ASSERT_GE(layout.done(source, target, channel), end);
          end = layout.done(source, target, channel) + sizeof(std::uint64_t);
          for (std::uint32_t slot = 0; slot < depth; ++slot) {
            const std::size_t at = layout.record(source, target, channel, slot);
            ASSERT_EQ(at % cache_line, 0u);
            ASSERT_GE(at, end);
            end = at + record_stride;
            const auto place = layout.locate(at + 5);
            ASSERT_TRUE(place);
            ASSERT_EQ(std::tuple(place->source, place->target, place->channel, place->slot,
                                 place->offset),
                      std::tuple(source, target, channel, slot, std::size_t{5}));
          }
        }
    EXPECT_LE(end, layout.file_size());
    EXPECT_FALSE(layout.locate(0));
    EXPECT_FALSE(layout.locate(layout.done(1, 0, 0)));
  }
}

TEST(EmuNetwork, AJobOf1024RanksTouchesOnlyThePagesItUses) {
  const Layout layout(1024, 16);
  os::MemoryFile file = os::create_memory_file("gex-emu-test", layout.file_size());
  ASSERT_TRUE(file.descriptor) << std::strerror(errno);
  const os::Mapping mapping = os::Mapping::shared(file.descriptor.get(), 0, layout.file_size());
  ASSERT_TRUE(mapping) << std::strerror(errno);
  Host low{.version = interface_version,
           .rank = 0,
           .size = 1024,
           .threaded = 0,
           .deliver = deliver,
           .fatal = die};
  Host high = low;
  high.rank = 1023;
  EmuNetwork from(low, layout, mapping.bytes(), 0);
  EmuNetwork to(high, layout, mapping.bytes(), 0);
  EXPECT_TRUE(poll_numbers(from).empty());
  ASSERT_EQ(send_number(from, request_channel, 1023, 42), sent);
  EXPECT_EQ(poll_numbers(to), std::vector<std::uint64_t>{42});
  struct stat status {};
  ASSERT_EQ(fstat(file.descriptor.get(), &status), 0);
  // The words of two ranks, one page of `sent` and one of a queue.
  EXPECT_LE(status.st_blocks * 512, 16 * 4096);
}

TEST(EmuNetwork, AMessageArrivesWholeAlignedAndOnce) {
  Ranks ranks(3, 4);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{48},
                                 std::size_t{4096}, payload_room, max_message}) {
    for (const Channel channel : {request_channel, reply_channel}) {
      const std::string message = pattern(size, static_cast<unsigned>(channel));
      const std::size_t cut = size / 3;
      const Piece pieces[] = {{message.data(), cut},
                              {nullptr, 0},
                              {message.data() + cut, cut},
                              {message.data() + 2 * cut, size - 2 * cut}};
      ASSERT_EQ(ranks[2].send(channel, 1, pieces), sent);
      int arrived = 0;
      handler = [&](std::uint32_t source, Channel on, const void* data, std::size_t bytes) {
        ++arrived;
        EXPECT_EQ(source, 2u);
        EXPECT_EQ(on, channel);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % message_alignment, 0u);
        EXPECT_EQ(std::string(static_cast<const char*>(data), bytes), message);
      };
      EXPECT_EQ(ranks[0].poll(both, everything), 0u);
      EXPECT_EQ(ranks[2].poll(both, everything), 0u);
      EXPECT_EQ(ranks[1].poll(both, everything), 1u);
      EXPECT_EQ(ranks[1].poll(both, everything), 0u);
      EXPECT_EQ(arrived, 1);
    }
  }
}

TEST(EmuNetwork, AMessageOfNoPiecesArrivesEmpty) {
  Ranks ranks(2, 1);
  ASSERT_EQ(ranks[0].send(request_channel, 1, {}), sent);
  handler = [](std::uint32_t, Channel, const void*, std::size_t size) { EXPECT_EQ(size, 0u); };
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
}

TEST(EmuNetwork, AFullQueueAnswersWouldBlockAndLosesNothing) {
  for (const std::uint32_t depth : {1u, 2u, 16u, 64u}) {
    Ranks ranks(2, depth);
    std::uint64_t next = 0;
    while (send_number(ranks[0], request_channel, 1, next) == sent) ++next;
    EXPECT_EQ(next, depth);
    EXPECT_EQ(send_number(ranks[0], request_channel, 1, next), would_block);
    // Neither the way back nor the peer's own queue is affected.
    EXPECT_EQ(send_number(ranks[1], request_channel, 0, 7), sent);
    EXPECT_EQ(poll_numbers(ranks[1], both, 1), std::vector<std::uint64_t>{0});
    EXPECT_EQ(send_number(ranks[0], request_channel, 1, next), sent);
    EXPECT_EQ(send_number(ranks[0], request_channel, 1, next + 1), would_block);
    const std::vector<std::uint64_t> rest = poll_numbers(ranks[1]);
    ASSERT_EQ(rest.size(), depth);
    for (std::uint32_t i = 0; i < depth; ++i) EXPECT_EQ(rest[i], i + 1u);
    EXPECT_EQ(poll_numbers(ranks[0]), std::vector<std::uint64_t>{7});
  }
}

TEST(EmuNetwork, NeitherChannelBlocksTheOther) {
  constexpr std::uint32_t depth = 4;
  for (const Channel full : {request_channel, reply_channel}) {
    const Channel other = full == request_channel ? reply_channel : request_channel;
    Ranks ranks(2, depth);
    const std::string largest = pattern(max_message, 5);
    while (send_bytes(ranks[0], full, 1, largest) == sent) {
    }
    for (std::uint32_t i = 0; i < depth; ++i)
      EXPECT_EQ(send_bytes(ranks[0], other, 1, largest), sent) << i;
    std::size_t arrived = 0;
    handler = [&](std::uint32_t, Channel channel, const void* data, std::size_t size) {
      ++arrived;
      EXPECT_EQ(channel, other);
      EXPECT_EQ(std::string(static_cast<const char*>(data), size), largest);
    };
    // Only the channel asked for is delivered, past the full one.
    EXPECT_EQ(ranks[1].poll(1u << other, everything), depth);
    EXPECT_EQ(arrived, depth);
    handler = [&](std::uint32_t, Channel channel, const void*, std::size_t) {
      EXPECT_EQ(channel, full);
    };
    EXPECT_EQ(ranks[1].poll(both, everything), depth);
  }
}

TEST(EmuNetwork, EveryPairHasRoomOfItsOwnAtAPeerThatDoesNotPoll) {
  constexpr std::uint32_t size = 5, depth = 3;
  Ranks ranks(size, depth);
  for (std::uint32_t from = 0; from + 1 < size; ++from)
    for (std::uint32_t i = 0; i < depth; ++i)
      ASSERT_EQ(send_number(ranks[from], reply_channel, size - 1, from), sent);
  EXPECT_EQ(poll_numbers(ranks[size - 1]).size(), (size - 1) * depth);
}

TEST(EmuNetwork, AMessageStaysUntilItsHandlerHasReturned) {
  Ranks ranks(2, 1);
  ASSERT_EQ(send_bytes(ranks[0], request_channel, 1, "first"), sent);
  handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
    EXPECT_EQ(send_bytes(ranks[0], request_channel, 1, "later"), would_block);
    EXPECT_EQ(std::string(static_cast<const char*>(data), size), "first");
  };
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
  EXPECT_EQ(send_bytes(ranks[0], request_channel, 1, "later"), sent);
  handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
}

class EmuSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, EmuSeeds, testing::Values(0, 1, 2, 3));

TEST_P(EmuSeeds, AHandlerMayPollRepliesAndSend) {
  Ranks ranks(2, 4, false, GetParam());
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(send_number(ranks[0], request_channel, 1, i), sent);
  for (std::uint64_t i = 10; i < 14; ++i)
    ASSERT_EQ(send_number(ranks[0], reply_channel, 1, i), sent);
  std::vector<int> seen(14);
  int depth = 0;
  handler = [&](std::uint32_t, Channel channel, const void* data, std::size_t size) {
    ++seen[number_in(data, size)];
    ++depth;
    EXPECT_EQ(channel, depth == 1 ? request_channel : reply_channel);
    // A request handler answers, and lets replies run above it; a reply handler may do neither,
    // but a conduit must stand even a poll from there.
    if (channel == request_channel) {
      EXPECT_EQ(send_number(ranks[1], reply_channel, 0, 0), sent);
    }
    if (depth < 3) ranks[1].poll(replies, everything);
    --depth;
  };
  for (int i = 0; i < 2000; ++i) ranks[1].poll(requests, everything);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], 1) << i;
  std::size_t left = 0;
  for (std::uint64_t i = 10; i < 14; ++i) left += seen[i] == 0;
  depth = 1;
  for (int i = 0; i < 2000; ++i) left -= ranks[1].poll(replies, everything);
  EXPECT_EQ(left, 0u);
  for (std::uint64_t i = 10; i < 14; ++i) EXPECT_EQ(seen[i], 1) << i;
  std::size_t answers = 0;
  for (int i = 0; i < 2000; ++i) answers += poll_numbers(ranks[0]).size();
  EXPECT_EQ(answers, 4u);
}

TEST_P(EmuSeeds, MostLimitsADelivery) {
  Ranks ranks(3, 8, false, GetParam());
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_EQ(send_number(ranks[1], request_channel, 0, i), sent);
    ASSERT_EQ(send_number(ranks[2], reply_channel, 0, i), sent);
  }
  EXPECT_EQ(ranks[0].poll(both, 0), 0u);
  std::size_t delivered = 0;
  for (int polls = 0; polls < 2000; ++polls) {
    const std::size_t now = poll_numbers(ranks[0], both, 3).size();
    ASSERT_LE(now, 3u);
    delivered += now;
  }
  EXPECT_EQ(delivered, 16u);
}

TEST(EmuNetwork, WithoutASeedMessagesArriveInTheOrderSent) {
  Ranks ranks(2, 8);
  std::uint64_t next_sent = 0, next_expected = 0;
  // Uneven steps, so that slots are given back and claimed in many constellations.
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < round % 7 + 1; ++i)
      if (send_number(ranks[0], request_channel, 1, next_sent) == sent) ++next_sent;
    for (const std::uint64_t number :
         poll_numbers(ranks[1], both, static_cast<std::size_t>(round % 5 + 1)))
      ASSERT_EQ(number, next_expected++);
  }
  EXPECT_GT(next_expected, 1000u);
  poll_numbers(ranks[1]);
}

TEST(EmuNetwork, NoSourceIsAlwaysLast) {
  constexpr std::uint32_t size = 4;
  Ranks ranks(size, 16);
  const auto refill = [&] {
    for (std::uint32_t from = 1; from < size; ++from)
      while (send_number(ranks[from], request_channel, 0, from) == sent) {
      }
  };
  std::vector<int> received(size);
  for (int i = 0; i < 300; ++i) {
    refill();
    for (const std::uint64_t from : poll_numbers(ranks[0], both, 1)) ++received[from];
  }
  for (std::uint32_t from = 1; from < size; ++from) EXPECT_EQ(received[from], 100) << from;
  poll_numbers(ranks[0]);
}

/// The order in which a fixed script of sends and polls delivers under a seed.
std::vector<std::uint64_t> scripted_order(std::uint64_t seed) {
  Ranks ranks(3, 16, false, seed);
  std::vector<std::uint64_t> order;
  std::uint64_t next = 0;
  const auto collect = [&](std::size_t max) {
    const auto numbers = poll_numbers(ranks[0], both, max);
    order.insert(order.end(), numbers.begin(), numbers.end());
  };
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t from = 1; from < 3; ++from) {
      if (send_number(ranks[from], request_channel, 0, next) == sent) ++next;
      if (send_number(ranks[from], reply_channel, 0, next) == sent) ++next;
    }
    collect(2);
  }
  const std::size_t bound = Reorder::longest_delay + Reorder::patience + next;
  for (std::size_t polls = 0; polls < bound; ++polls) collect(1);
  EXPECT_EQ(order.size(), next) << "seed " << seed;
  return order;
}

TEST(EmuNetwork, TheSameSeedDeliversInTheSameOrder) {
  EXPECT_EQ(scripted_order(5), scripted_order(5));
  EXPECT_EQ(scripted_order(6), scripted_order(6));
  EXPECT_NE(scripted_order(5), scripted_order(6));
  EXPECT_NE(scripted_order(5), scripted_order(0));
}

TEST(EmuNetwork, UnderASeedMessagesOfOnePairAndChannelOvertake) {
  const auto order = scripted_order(9);
  int overtaken = 0;
  for (std::size_t i = 1; i < order.size(); ++i) overtaken += order[i] < order[i - 1];
  EXPECT_GT(overtaken, 5);
}

TEST(EmuNetwork, AMessageHeldBackCostsFewPolls) {
  constexpr std::uint32_t max_polls = Reorder::longest_delay / Reorder::looks_per_poll + 1;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Ranks ranks(2, 1, false, seed);
    for (std::uint64_t number = 0; number < 50; ++number) {
      ASSERT_EQ(send_number(ranks[0], request_channel, 1, number), sent);
      std::uint32_t polls = 1;
      while (poll_numbers(ranks[1]).empty()) ASSERT_LE(++polls, max_polls) << "seed " << seed;
    }
  }
}

TEST(EmuNetworkDeathTest, AMessageAboveTheLimitEndsTheJob) {
  Ranks ranks(2, 1);
  const std::string large(max_message + 1, 'x');
  EXPECT_EXIT(send_bytes(ranks[0], request_channel, 1, large), testing::ExitedWithCode(7),
              "emu: a message of 16641 bytes to rank 1; the limit is 16640");
}

TEST(EmuNetworkDeathTest, AnInvalidPeerEndsTheJob) {
  Ranks ranks(2, 1);
  EXPECT_EXIT(send_number(ranks[0], request_channel, 0, 1), testing::ExitedWithCode(7),
              "rank 0, which is not a peer of rank 0 among 2");
  EXPECT_EXIT(send_number(ranks[0], request_channel, 2, 1), testing::ExitedWithCode(7),
              "rank 2, which is not a peer of rank 0 among 2");
}

TEST(EmuNetworkDeathTest, SizesThatCannotBeTrueEndTheReceiversJob) {
  const auto poke = [](std::uint16_t size, std::uint16_t start) {
    Ranks ranks(2, 2);
    handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
    if (send_number(ranks[0], request_channel, 1, 1) != sent) return;
    ranks.record(0, 1, request_channel, 0).size = size;
    ranks.record(0, 1, request_channel, 0).start = start;
    ranks[1].poll(both, everything);
    std::_Exit(0);
  };
  const char* line = "emu: rank 0 sent a message of";
  EXPECT_EXIT(poke(max_message + 1, 16), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(UINT16_MAX, 16), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(8, 0), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(8, 24), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(8, 16384), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(8, UINT16_MAX), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(max_message, payload_start), testing::ExitedWithCode(7), line);
  EXPECT_EXIT(poke(max_message, 16), testing::ExitedWithCode(0), "");
}

TEST(EmuNetwork, NonsenseFromAPeerInUnusedSlotsIsIgnored) {
  Ranks ranks(2, 4);
  auto& sent_word = *reinterpret_cast<std::atomic<std::uint64_t>*>(
      ranks.mapping.data() + ranks.layout.sent(0, 1, request_channel));
  sent_word = ~std::uint64_t{15};
  EXPECT_TRUE(poll_numbers(ranks[1]).empty());
  ASSERT_EQ(send_number(ranks[0], request_channel, 1, 3), sent);
  EXPECT_EQ(poll_numbers(ranks[1]), std::vector<std::uint64_t>{3});
  sent_word = sent_word & 15;
}

TEST(EmuNetworkDeathTest, CheckInvariantsSeesAWordThatWasTouched) {
  const auto poke = [](std::size_t offset) {
    Ranks ranks(2, 4);
    *reinterpret_cast<std::uint64_t*>(ranks.mapping.data() + offset) = std::uint64_t{1} << 40;
    ranks[1].check_invariants();
    std::_Exit(0);
  };
  const Layout layout(2, 4);
  EXPECT_EXIT(poke(layout.sent(0, 1, 0)), testing::ExitedWithCode(7), "slots and depth");
  EXPECT_EXIT(poke(layout.done(0, 1, 1)), testing::ExitedWithCode(7), "disagree");
}

}  // namespace
}  // namespace gex::net::emu
