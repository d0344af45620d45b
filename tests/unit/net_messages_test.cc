// The common part of networks' messages: the buffers they are sent from, the queues in which they
// wait to be delivered, and the records of puts made of messages and their acknowledgements.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/kit/arrivals.h"
#include "net/kit/channel_buffers.h"
#include "net/kit/handshakes.h"
#include "net/kit/message_transfers.h"
#include "net/kit/object_pool.h"
#include "net/kit/owed_answers.h"
#include "net/kit/stray_warning.h"
#include "net/kit/transfer_pool.h"

namespace gex::net {
namespace {

constexpr std::uint32_t ranks = 4;
constexpr std::uint32_t both = 1U << request_channel | 1U << reply_channel;

std::vector<std::string> warnings;

Host host_of(std::uint32_t rank) {
  Host host{};
  host.rank = rank;
  host.size = ranks;
  host.fatal = [](const char* text) { throw std::runtime_error(text); };
  host.warn = [](const char* text) { warnings.emplace_back(text); };
  host.shares_memory = [](std::uint32_t) -> std::uint32_t { return 0; };
  return host;
}

struct alignas(64) Buffer {
  static constexpr MessageRoom room{.stamp = 16, .header = 48, .payload = 256};

  std::uint32_t peer;
  Channel kind;
  std::byte* start;

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* payload() noexcept { return bytes() + room.stamp + room.header; }
  std::string message(std::size_t size) const {
    return {reinterpret_cast<const char*>(start) + room.stamp, size};
  }
};

class Buffers : public testing::Test {
 protected:
  Buffer* fill(std::span<const Piece> pieces) {
    return buffers.fill(request_channel, 1, pieces, buffers.size_to(1, pieces));
  }

  const Host host = host_of(0);
  SendPool<Buffer> pool{ChannelBuffers<Buffer>::max_in_all(ranks), 320, false,
                        [](std::span<std::byte>, Buffer&) { return true; }};
  ChannelBuffers<Buffer> buffers{host, "test", pool, false};
};

TEST_F(Buffers, AMessageIsItsPiecesBehindTheRoomForAStamp) {
  const Piece pieces[] = {{"head", 4}, {nullptr, 0}, {"payload", 7}};
  Buffer* const buffer = fill(pieces);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->peer, 1U);
  EXPECT_EQ(buffer->kind, request_channel);
  EXPECT_EQ(buffer->start, buffer->bytes());
  EXPECT_EQ(buffer->message(11), "headpayload");
  buffers.give_back(*buffer);
  buffers.check_invariants();
}

TEST_F(Buffers, APayloadThatWasBuiltInPlaceStaysThere) {
  void* const payload = buffers.build(request_channel, 1, 7);
  ASSERT_NE(payload, nullptr);
  std::memcpy(payload, "payload", 7);
  const Piece pieces[] = {{"head", 4}, {payload, 7}};
  Buffer* const buffer = fill(pieces);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->payload(), payload);
  EXPECT_EQ(buffer->start + Buffer::room.stamp + 4, payload);
  EXPECT_EQ(buffer->message(11), "headpayload");
  buffers.give_back(*buffer);
  buffers.check_invariants();
}

TEST_F(Buffers, ALongHeaderMovesThePayload) {
  void* const payload = buffers.build(request_channel, 1, 7);
  ASSERT_NE(payload, nullptr);
  std::memcpy(payload, "payload", 7);
  const std::string header(100, 'h');
  const Piece pieces[] = {{header.data(), header.size()}, {payload, 7}};
  Buffer* const buffer = fill(pieces);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->start, buffer->bytes());
  EXPECT_EQ(buffer->message(107), header + "payload");
}

TEST_F(Buffers, APeerThatTakesNothingUsesUpNoOthers) {
  const Piece piece{"x", 1};
  for (std::uint32_t i = 0; i < channel_depth; ++i) ASSERT_NE(fill({&piece, 1}), nullptr);
  EXPECT_EQ(fill({&piece, 1}), nullptr);
  EXPECT_EQ(buffers.build(request_channel, 1, 1), nullptr);
  EXPECT_NE(buffers.fill(request_channel, 2, {&piece, 1}, 1), nullptr);
  for (std::uint32_t i = 0; i < 2 * channel_depth; ++i)
    ASSERT_NE(buffers.fill(reply_channel, 1, {&piece, 1}, 1), nullptr);
  EXPECT_EQ(buffers.fill(reply_channel, 1, {&piece, 1}, 1), nullptr);
}

TEST_F(Buffers, WhatIsNotSentCanBeBuiltAgain) {
  for (std::uint32_t i = 0; i < 2 * channel_depth; ++i) {
    void* const payload = buffers.build(request_channel, 1, Buffer::room.payload);
    ASSERT_NE(payload, nullptr);
    buffers.release(payload);
  }
  EXPECT_EQ(buffers.build(request_channel, 1, Buffer::room.payload + 1), nullptr);
  buffers.check_invariants();
}

TEST_F(Buffers, WhatCannotBeAMessageEndsTheJob) {
  const std::vector<char> bytes(Buffer::room.max_message() + 1);
  const Piece piece{bytes.data(), bytes.size()};
  EXPECT_THROW(buffers.size_to(1, {&piece, 1}), std::runtime_error);
  EXPECT_THROW(buffers.size_to(0, {}), std::runtime_error);
  EXPECT_THROW(buffers.size_to(ranks, {}), std::runtime_error);
  EXPECT_THROW(buffers.build(request_channel, 0, 1), std::runtime_error);
  int elsewhere = 0;
  EXPECT_THROW(buffers.release(&elsewhere), std::runtime_error);
}

TEST(ChannelArrivals, RepliesAreTakenFirstAndAChannelAloneIfItIsAskedFor) {
  ChannelArrivals<int> arrivals(false);
  EXPECT_TRUE(arrivals.is_empty());
  for (int i = 0; i < 100; ++i) {
    arrivals.push(request_channel, i);
    arrivals.push(reply_channel, 1000 + i);
  }
  Channel channel{};
  int arrival = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(arrivals.pop(1U << request_channel, channel, arrival));
    EXPECT_EQ(std::pair(channel, arrival), std::pair(request_channel, i));
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(arrivals.pop(both, channel, arrival));
    EXPECT_EQ(std::pair(channel, arrival), std::pair(reply_channel, 1000 + i));
  }
  EXPECT_FALSE(arrivals.pop(1U << reply_channel, channel, arrival));
  EXPECT_FALSE(arrivals.is_empty());
  std::vector<int> dropped;
  arrivals.drop_all([&](int one) { dropped.push_back(one); });
  EXPECT_EQ(dropped.size(), 50U);
  EXPECT_EQ(dropped.front(), 50);
  EXPECT_TRUE(arrivals.is_empty());
}

struct Transfer {
  std::uint32_t peer;
  std::uint32_t number;
};

TEST(TransferPool, APeerHasItsShareAndAllTogetherTheirs) {
  TransferPool<Transfer> pool(ranks, {.a_peer = 100, .in_all = 150});
  std::vector<Transfer*> taken;
  for (int i = 0; i < 100; ++i) ASSERT_NE(taken.emplace_back(pool.take(1)), nullptr);
  EXPECT_EQ(pool.take(1), nullptr);
  for (int i = 0; i < 50; ++i) ASSERT_NE(taken.emplace_back(pool.take(2)), nullptr);
  EXPECT_EQ(pool.take(2), nullptr);
  EXPECT_EQ(pool.take(3), nullptr);
  EXPECT_NE(taken.emplace_back(pool.take_beyond_room(1)), nullptr);
  EXPECT_EQ(pool.under_way(1), 101U);
  EXPECT_EQ(pool.under_way(), 151U);
  for (Transfer* const transfer : taken) pool.give_back(*transfer);
  EXPECT_EQ(pool.under_way(), 0U);
  EXPECT_NE(pool.take(1), nullptr);
}

TEST(TransferPool, ANumberNamesATransferOfItsPeerUntilThatIsOver) {
  TransferPool<Transfer> pool(ranks, {.a_peer = 100, .in_all = 100});
  std::map<std::uint32_t, Transfer*> by_number;
  for (std::uint32_t i = 0; i < 70; ++i) {
    Transfer* const transfer = pool.take(i % 3);
    ASSERT_NE(transfer, nullptr);
    EXPECT_TRUE(by_number.emplace(transfer->number, transfer).second);
  }
  for (const auto& [number, transfer] : by_number) {
    const std::uint32_t peer = transfer->peer;
    EXPECT_EQ(pool.find(peer, number), transfer);
    EXPECT_EQ(pool.find((peer + 1) % 3, number), nullptr);
    pool.give_back(*transfer);
    EXPECT_EQ(pool.find(peer, number), nullptr);
  }
  EXPECT_EQ(pool.find(0, 1U << 20), nullptr);
  EXPECT_EQ(pool.find(0, ~0U), nullptr);
}

class MessageTransfersTest : public testing::Test, protected TransferOwner<MessageTransfer> {
 protected:
  MessageTransfer* begin(std::uint32_t peer, std::uint32_t messages) {
    MessageTransfer* const transfer = transfers.take(peer);
    transfer->unsent = transfer->unanswered = messages;
    return transfer;
  }
  std::size_t answer(std::uint32_t peer, const std::vector<std::uint32_t>& numbers) {
    return transfers.handle_answers(peer, std::as_bytes(std::span(numbers)));
  }
  void source_is_free(MessageTransfer& transfer) override {
    stages += "free " + std::to_string(transfer.number) + " ";
  }
  void is_over(MessageTransfer& transfer) override {
    stages += "over " + std::to_string(transfer.number) + " ";
    transfers.give_back(transfer);
  }

  MessageTransfers<MessageTransfer> transfers{ranks, {.a_peer = 8, .in_all = 8}, *this};
  std::string stages;
};

TEST_F(MessageTransfersTest, OneIsOverOnceItsMessagesAreSentAndAnswered) {
  MessageTransfer* const put = begin(1, 2);
  const std::uint32_t number = put->number;
  const std::string name = std::to_string(number);
  transfers.message_sent(*put);
  EXPECT_EQ(answer(1, {number}), 1U);
  EXPECT_EQ(stages, "");
  transfers.message_sent(*put);
  EXPECT_EQ(stages, "free " + name + " ");
  EXPECT_EQ(answer(1, {number}), 1U);
  EXPECT_EQ(stages, "free " + name + " over " + name + " ");
  EXPECT_EQ(transfers.under_way(), 0U);
}

TEST_F(MessageTransfersTest, AnAnswerThatOvertakesTheReportOfASendDoesNotEndIt) {
  MessageTransfer* const put = begin(1, 1);
  const std::string name = std::to_string(put->number);
  EXPECT_EQ(answer(1, {put->number}), 1U);
  EXPECT_EQ(stages, "");
  transfers.message_sent(*put);
  EXPECT_EQ(stages, "free " + name + " over " + name + " ");
}

TEST_F(MessageTransfersTest, WhatAnswersNoTransferIsNotCounted) {
  MessageTransfer* const put = begin(1, 1);
  const std::uint32_t number = put->number;
  transfers.message_sent(*put);
  EXPECT_EQ(answer(2, {number}), 0U);
  EXPECT_EQ(answer(1, {number + 1, 1U << 30}), 0U);
  EXPECT_EQ(answer(1, {number, number}), 1U);
  EXPECT_EQ(answer(1, {number}), 0U);
  EXPECT_EQ(transfers.handle_answers(1, std::as_bytes(std::span(&number, 1)).first(3)), 0U);
}

TEST(OwedAnswers, ThoseToOnePeerGoTogether) {
  OwedAnswers owed;
  for (std::uint32_t i = 0; i < 100; ++i) {
    owed.add(2, i);
    owed.add(1, 1000 + i);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> answered;
  int messages = 0;
  owed.send_all([&](std::uint32_t peer, std::span<const std::uint32_t> numbers) {
    EXPECT_LE(numbers.size(), OwedAnswers::max_together);
    answered[peer].insert(answered[peer].end(), numbers.begin(), numbers.end());
    ++messages;
    return true;
  });
  EXPECT_EQ(messages, 4);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(answered[2].at(i), i);
    EXPECT_EQ(answered[1].at(i), 1000 + i);
  }
  EXPECT_TRUE(owed.is_empty());
}

TEST(OwedAnswers, WhatCannotBeSentStaysOwed) {
  OwedAnswers owed;
  for (std::uint32_t i = 0; i < 100; ++i) owed.add(i % 2, i);
  std::size_t answered = 0;
  const auto send_to = [&](std::uint32_t reachable) {
    owed.send_all([&](std::uint32_t peer, std::span<const std::uint32_t> numbers) {
      if (peer != reachable) return false;
      for (const std::uint32_t number : numbers) EXPECT_EQ(number % 2, peer);
      answered += numbers.size();
      return true;
    });
  };
  send_to(1);
  EXPECT_EQ(answered, 50U);
  EXPECT_FALSE(owed.is_empty());
  send_to(1);
  EXPECT_EQ(answered, 50U);
  send_to(0);
  EXPECT_EQ(answered, 100U);
  EXPECT_TRUE(owed.is_empty());
}

TEST(ObjectPool, GivesWhatMembersAreDeclaredWithAndNoMoreThanItMay) {
  struct Object {
    Object* next;
    int value = 7;
  };
  ObjectPool<Object> pool(3);
  std::array<Object*, 3> taken{};
  for (Object*& one : taken) {
    one = pool.take();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(std::exchange(one->value, 8), 7);
  }
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.left(), 0U);
  pool.give_back(taken[1]);
  EXPECT_EQ(pool.taken(), 2U);
  Object* const again = pool.take();
  EXPECT_EQ(again, taken[1]);
  EXPECT_EQ(again->value, 7);
}

TEST(StrayWarning, IsPrintedOnce) {
  warnings.clear();
  const Host host = host_of(3);
  StrayWarning strays(host, "test");
  strays.dropped();
  strays.dropped();
  EXPECT_EQ(warnings, std::vector<std::string>{"test: rank 3 drops messages that do not belong to "
                                               "this job (reported once)"});
}

TEST(Handshakes, GoToTheRanksBehindAndAreAwaitedFromThoseBefore) {
  const Host host = host_of(1);
  Handshakes handshakes(host);
  std::vector<std::uint32_t> sent_to;
  int rounds = 0;
  handshakes.exchange({
      .name = "test",
      .remedy = "nothing helps",
      .send =
          [&](std::uint32_t peer) {
            sent_to.push_back(peer);
            return true;
          },
      .advance =
          [&] {
            // One comes in each round, at last its own are gone.
            ++rounds;
            if (rounds == 1) handshakes.came(0);
            if (rounds == 2) handshakes.came(3);
            return rounds == 3;
          },
      .refusing = [] { return std::nullopt; },
  });
  EXPECT_EQ(sent_to, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(rounds, 3);
}

TEST(Handshakes, WithoutABufferEndTheJob) {
  const Host host = host_of(0);
  Handshakes handshakes(host);
  EXPECT_THROW(handshakes.exchange({.name = "test",
                                    .remedy = "",
                                    .send = [](std::uint32_t) { return false; },
                                    .advance = [] { return true; },
                                    .refusing = [] { return std::nullopt; }}),
               std::runtime_error);
}

}  // namespace
}  // namespace gex::net
