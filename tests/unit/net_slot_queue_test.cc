// The slot queue by itself: who owns a slot when.

#include "net/emu/slot_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace gex::net::emu {
namespace {

using Word = StdAtomics::Word;

struct Queue {
  explicit Queue(std::uint32_t slots, bool threads) : all(all_slots(slots)), threaded(threads) {}
  SlotSender<> sender() { return {sent, done, claimed, all, threaded}; }
  SlotReceiver<> receiver() { return {sent, done, finished, taken, all, threaded}; }

  Word sent{0}, done{0}, claimed{0}, finished{0}, taken{0};
  std::uint64_t all;
  bool threaded;
};

class SlotQueue : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, SlotQueue, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "threaded" : "single"; });

TEST(SlotQueueBits, AllSlotsCoversExactlyTheDepth) {
  EXPECT_EQ(all_slots(1), 1u);
  EXPECT_EQ(all_slots(16), 0xffffu);
  EXPECT_EQ(all_slots(64), ~std::uint64_t{0});
}

TEST_P(SlotQueue, EverySlotCanBeClaimedOnceAndNoMore) {
  for (const std::uint32_t slots : {1u, 3u, 64u}) {
    Queue queue(slots, GetParam());
    std::set<int> claimed;
    for (std::uint32_t i = 0; i < slots; ++i) claimed.insert(queue.sender().claim());
    EXPECT_EQ(claimed.size(), slots);
    EXPECT_EQ(*claimed.begin(), 0);
    EXPECT_EQ(*claimed.rbegin(), static_cast<int>(slots) - 1);
    EXPECT_EQ(queue.sender().claim(), no_slot);
  }
}

TEST_P(SlotQueue, AClaimedSlotIsNotReadyBeforeItIsPublished) {
  Queue queue(4, GetParam());
  const int slot = queue.sender().claim();
  EXPECT_EQ(queue.receiver().ready(), 0u);
  EXPECT_FALSE(queue.receiver().take(slot));
  queue.sender().publish(slot);
  EXPECT_EQ(queue.receiver().ready(), std::uint64_t{1} << slot);
}

TEST_P(SlotQueue, AnUnpublishedClaimHoldsUpNoLaterOne) {
  Queue queue(4, GetParam());
  const int first = queue.sender().claim();
  const int second = queue.sender().claim();
  queue.sender().publish(second);
  EXPECT_EQ(queue.receiver().ready(), std::uint64_t{1} << second);
  EXPECT_TRUE(queue.receiver().take(second));
  queue.receiver().finish(second);
  EXPECT_EQ(queue.sender().claim(), second);
  queue.sender().publish(first);
  EXPECT_EQ(queue.receiver().ready(), std::uint64_t{1} << first);
}

TEST_P(SlotQueue, ATakenSlotIsNeitherReadyNorFreeUntilFinished) {
  Queue queue(1, GetParam());
  queue.sender().publish(queue.sender().claim());
  ASSERT_TRUE(queue.receiver().take(0));
  EXPECT_EQ(queue.receiver().ready(), 0u);
  EXPECT_FALSE(queue.receiver().take(0));
  EXPECT_EQ(queue.sender().claim(), no_slot);
  queue.receiver().finish(0);
  EXPECT_EQ(queue.receiver().ready(), 0u);
  EXPECT_FALSE(queue.receiver().take(0));
  EXPECT_EQ(queue.sender().claim(), 0);
}

TEST_P(SlotQueue, AnAbandonedClaimIsFreeAgain) {
  Queue queue(1, GetParam());
  queue.sender().abandon(queue.sender().claim());
  EXPECT_EQ(queue.receiver().ready(), 0u);
  EXPECT_EQ(queue.sender().claim(), 0);
}

TEST_P(SlotQueue, SlotsServeForManyRounds) {
  Queue queue(2, GetParam());
  for (int round = 0; round < 1000; ++round) {
    const int slot = queue.sender().claim();
    ASSERT_EQ(slot, 0);
    queue.sender().publish(slot);
    ASSERT_EQ(queue.receiver().ready(), 1u);
    ASSERT_TRUE(queue.receiver().take(slot));
    queue.receiver().finish(slot);
  }
}

TEST_P(SlotQueue, BitsBeyondTheDepthAreNeverReady) {
  Queue queue(3, GetParam());
  queue.sent = ~std::uint64_t{7};
  EXPECT_EQ(queue.receiver().ready(), 0u);
  queue.done = ~std::uint64_t{7};
  EXPECT_EQ(queue.sender().claim(), 0);
}

// Several senders and receivers over plain memory: each number arrives once, and ThreadSanitizer
// sees that a slot's memory never has two owners.
TEST(SlotQueueThreads, EveryItemArrivesOnceFromManyThreadsToMany) {
  constexpr std::uint32_t slots = 3;
  constexpr std::uint32_t senders = 3, receivers = 3, each = 20000;
  Queue queue(slots, true);
  std::array<std::uint64_t, slots> memory{};
  std::vector<std::atomic<std::uint8_t>> seen(senders * each);
  std::atomic<std::uint32_t> received{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t s = 0; s < senders; ++s) {
      threads.emplace_back([&, s] {
        for (std::uint32_t i = 0; i < each;) {
          const int slot = queue.sender().claim();
          if (slot == no_slot) {
            std::this_thread::yield();
            continue;
          }
          memory[static_cast<std::size_t>(slot)] = s * each + i++;
          queue.sender().publish(slot);
        }
      });
    }
    for (std::uint32_t r = 0; r < receivers; ++r) {
      threads.emplace_back([&] {
        while (received < senders * each) {
          const std::uint64_t ready = queue.receiver().ready();
          if (ready == 0) {
            std::this_thread::yield();
            continue;
          }
          const int slot = std::countr_zero(ready);
          if (!queue.receiver().take(slot)) continue;
          ++seen[memory[static_cast<std::size_t>(slot)]];
          queue.receiver().finish(slot);
          ++received;
        }
      });
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], 1) << "item " << i;
  EXPECT_EQ(queue.claimed, 0u);
  EXPECT_EQ(queue.taken, 0u);
  EXPECT_EQ(queue.sent, queue.done);
}

}  // namespace
}  // namespace gex::net::emu
