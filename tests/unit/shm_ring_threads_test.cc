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

/// Takes the next message; false if it has not arrived.
bool take(TestRing& ring, Consumer<StdAtomics>& consumer, CellContent& content) {
  Cell& cell = ring.cells[consumer.next() % ring.shape.cells];
  if (!consumer.arrived(cell.ready)) return false;
  content.header = cell.header;
  std::copy(std::begin(cell.words), std::end(cell.words), content.words);
  consumer.advance();
  return true;
}

void fill(Cell& cell, std::uint32_t source, std::uint32_t value) {
  cell.header = {};
  cell.header.source = source;
  for (std::uint32_t& word : cell.words) word = value++;
}

void expect_whole(const CellContent& content, std::uint32_t value) {
  for (const std::uint32_t word : content.words) ASSERT_EQ(word, value++);
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
      fill(cell, 7, i++);
      producer.publish(cell.ready);
    }
  });
  Consumer<StdAtomics> consumer(&ring->control, ring->shape);
  for (std::uint32_t i = 0; i < messages;) {
    CellContent content;
    if (!take(*ring, consumer, content)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(content.header.source, 7U);
    expect_whole(content, i++);
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
        fill(cell, p, i++);
        StdAtomics::store_release(cell.ready, sequence + 1);
      }
    });
  }
  Consumer<StdAtomics> consumer(&ring->control, ring->shape);
  std::vector<std::uint32_t> next(producers, 0);
  for (std::uint32_t i = 0; i < producers * each;) {
    CellContent content;
    if (!take(*ring, consumer, content)) {
      std::this_thread::yield();
      continue;
    }
    ++i;
    const std::uint32_t source = content.header.source;
    ASSERT_LT(source, producers);
    // A producer's own messages keep their order in a ring.
    expect_whole(content, next[source]++);
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
    fill(cell, 0, sent++);
    requester.publish(cell.ready);
  }
  EXPECT_EQ(sent, pair_shape.reply_window);

  Consumer<StdAtomics> server(&requests->control, requests->shape);
  PairProducer<StdAtomics> answers(&replies->control, replies->shape);
  CellContent content;
  std::uint32_t served = 0;
  while (take(*requests, server, content)) {
    ASSERT_TRUE(answers.has_room() || answers.find_reply_room()) << served;
    Cell& cell = replies->cells[answers.next() % replies->shape.cells];
    fill(cell, 1, served++);
    answers.publish(cell.ready);
  }
  EXPECT_EQ(served, sent);
  // Nothing was consumed, so the window stays shut, although the request ring has room again.
  EXPECT_FALSE(requester.find_request_room(0));
  EXPECT_TRUE(requester.find_request_room(1));
}

}  // namespace
}  // namespace gex::shm
