// The rings between threads that stand for ranks, so that ThreadSanitizer sees both sides, which it
// cannot between processes.

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "base/spin.h"
#include "shm/cell.h"
#include "shm/ring.h"

namespace gex::shm {
namespace {

struct TestRing {
  explicit TestRing(RingShape ring_shape) : shape(ring_shape), cells(shape.cells) {}
  RingShape shape;
  RingControl<StdAtomics> control{};
  std::vector<Cell> cells;
};

struct Message {
  std::uint32_t what;
  std::uint32_t source;
  std::uint32_t words[cell_words];
};

/// Takes the next message; false if it has not arrived.
bool take(TestRing& ring, Consumer<StdAtomics>& consumer, Message& message) {
  const Cell& cell = ring.cells[consumer.next() % ring.shape.cells];
  if (!consumer.arrived(cell.ready, message.what)) return false;
  message.source = cell.source;
  std::copy(std::begin(cell.words), std::end(cell.words), message.words);
  consumer.advance();
  return true;
}

/// Writes a message of the value, and returns its first 32 bits.
std::uint32_t fill(Cell& cell, std::uint32_t source, std::uint32_t value) {
  cell.source = source;
  const std::uint32_t what = ~value;
  for (std::uint32_t& word : cell.words) word = value++;
  return what;
}

void expect_whole(const Message& message, std::uint32_t value) {
  ASSERT_EQ(message.what, ~value);
  for (const std::uint32_t word : message.words) ASSERT_EQ(word, value++);
}

TEST(RingThreads, APairRingDeliversEveryMessageWholeAndInOrder) {
  constexpr std::uint32_t messages = 200000;
  auto ring = std::make_unique<TestRing>(pair_shape);
  std::thread producer_thread([&] {
    PairProducer<StdAtomics> producer(&ring->control, ring->shape);
    for (std::uint32_t i = 0; i < messages;) {
      if (!producer.has_room() && !producer.find_reply_room()) {
        std::this_thread::yield();
        continue;
      }
      Cell& cell = ring->cells[producer.next() % ring->shape.cells];
      const std::uint32_t what = fill(cell, 7, i++);
      producer.publish(cell.ready, what);
    }
  });
  Consumer<StdAtomics> consumer(&ring->control, ring->shape);
  for (std::uint32_t i = 0; i < messages;) {
    Message message;
    if (!take(*ring, consumer, message)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(message.source, 7U);
    expect_whole(message, i++);
  }
  producer_thread.join();
}

TEST(RingThreads, ASharedRingDeliversEveryMessageOfEveryProducerOnce) {
  constexpr std::uint32_t producers = 4;
  constexpr std::uint32_t each = 50000;
  auto ring = std::make_unique<TestRing>(RingShape{64, 8, 32});
  std::vector<std::thread> threads;
  for (std::uint32_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (std::uint32_t i = 0; i < each;) {
        std::uint32_t sequence = 0;
        if (!claim_shared(ring->control, ring->shape, sequence)) {
          std::this_thread::yield();
          continue;
        }
        Cell& cell = ring->cells[sequence % ring->shape.cells];
        const std::uint32_t what = fill(cell, p, i++);
        publish_shared<StdAtomics>(cell.ready, sequence, what);
      }
    });
  }
  Consumer<StdAtomics> consumer(&ring->control, ring->shape);
  std::vector<std::uint32_t> next(producers, 0);
  for (std::uint32_t i = 0; i < producers * each;) {
    Message message;
    if (!take(*ring, consumer, message)) {
      std::this_thread::yield();
      continue;
    }
    ++i;
    const std::uint32_t source = message.source;
    ASSERT_LT(source, producers);
    // A producer's own messages keep their order in a ring.
    expect_whole(message, next[source]++);
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uint32_t count : next) EXPECT_EQ(count, each);
}

TEST(RingThreads, ARequesterThatDoesNotLookLeavesRoomForEveryReply) {
  // The requester sends until its window is full and then looks away; the server answers all.
  auto requests = std::make_unique<TestRing>(pair_shape);
  auto replies = std::make_unique<TestRing>(pair_shape);
  PairProducer<StdAtomics> requester(&requests->control, requests->shape);
  std::uint32_t sent = 0;
  while (requester.has_room() || requester.find_request_room(0)) {
    Cell& cell = requests->cells[requester.next() % requests->shape.cells];
    const std::uint32_t what = fill(cell, 0, sent++);
    requester.publish(cell.ready, what);
  }
  EXPECT_EQ(sent, pair_shape.reply_window);

  Consumer<StdAtomics> server(&requests->control, requests->shape);
  PairProducer<StdAtomics> answers(&replies->control, replies->shape);
  Message message;
  std::uint32_t served = 0;
  while (take(*requests, server, message)) {
    ASSERT_TRUE(answers.has_room() || answers.find_reply_room()) << served;
    Cell& cell = replies->cells[answers.next() % replies->shape.cells];
    const std::uint32_t what = fill(cell, 1, served++);
    answers.publish(cell.ready, what);
  }
  EXPECT_EQ(served, sent);
  // Nothing was consumed, so the window stays shut, although the request ring has room again.
  EXPECT_FALSE(requester.find_request_room(0));
  EXPECT_TRUE(requester.find_request_room(1));
}

}  // namespace
}  // namespace gex::shm
