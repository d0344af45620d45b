// The seeded choice of what is delivered next: repeatable, bounded, and really out of order.

#include "net/emu/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <vector>

namespace gex::net::emu {
namespace {

constexpr std::uint32_t depth = 16;
constexpr std::uint32_t max_looks = Reorder::longest_delay + Reorder::patience;

/// Shows those of a queue whose bits are set, each of which is the message of its slot's number.
void show(Reorder& reorder, std::uint32_t queue, std::uint64_t ready) {
  for (; ready != 0; ready &= ready - 1) {
    const int slot = std::countr_zero(ready);
    reorder.consider(queue, slot, static_cast<std::uint32_t>(slot));
  }
}

/// Shows `count` messages of queue 0 until all were chosen; the order in which they were.
std::vector<int> order_of(std::uint64_t seed, std::uint32_t rank, std::uint32_t count) {
  Reorder reorder(seed, rank, 1, depth);
  std::uint64_t ready = (std::uint64_t{1} << count) - 1;
  std::vector<int> order;
  for (std::uint32_t looks = 0; ready != 0; ++looks) {
    if (looks > max_looks + count) return {};
    reorder.begin_look();
    show(reorder, 0, ready);
    Reorder::Choice choice;
    if (!reorder.choose(choice)) continue;
    ready &= ~(std::uint64_t{1} << choice.slot);
    order.push_back(choice.slot);
  }
  return order;
}

TEST(Reorder, EveryMessageIsChosenOnceWithinTheBound) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<int> order = order_of(seed, 0, depth);
    std::sort(order.begin(), order.end());
    std::vector<int> expected(depth);
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(order, expected) << "seed " << seed;
  }
}

TEST(Reorder, TheSameSeedGivesTheSameOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(order_of(seed, 3, depth), order_of(seed, 3, depth)) << "seed " << seed;
}

TEST(Reorder, WhatIsDrawnForAMessageDoesNotDependOnWhatElseIsShown) {
  const auto looks_held_back = [](std::uint64_t seed, bool beside_others) {
    Reorder reorder(seed, 3, 2, depth);
    std::vector<std::uint32_t> held_back;
    for (std::uint32_t sequence = 0; sequence < depth; ++sequence) {
      const int slot = static_cast<int>(sequence);
      if (beside_others) {
        reorder.begin_look();
        reorder.consider(1, slot, sequence);
      }
      std::uint32_t looks = 0;
      do {
        reorder.begin_look();
        reorder.consider(0, slot, sequence);
        ++looks;
      } while (reorder.candidates() == 0);
      held_back.push_back(looks);
    }
    return held_back;
  };
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    EXPECT_EQ(looks_held_back(seed, false), looks_held_back(seed, true)) << "seed " << seed;
}

TEST(Reorder, SeedsAndRanksGiveOrdersOfTheirOwn) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (std::uint32_t rank = 0; rank < 5; ++rank) orders.insert(order_of(seed, rank, depth));
  EXPECT_EQ(orders.size(), 100u);
}

TEST(Reorder, AnyMessageCanComeFirstAndAnyLast) {
  std::set<int> first, last;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::vector<int> order = order_of(seed, 0, 4);
    first.insert(order.front());
    last.insert(order.back());
  }
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(last.size(), 4u);
}

TEST(Reorder, OverAboutHalfOfLoneMessagesALaterOneIsChosen) {
  // The receiver looks after every arrival: only a delay can let the second overtake.
  int overtaken = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Reorder reorder(seed, 0, 1, depth);
    reorder.begin_look();
    show(reorder, 0, 1);
    Reorder::Choice choice;
    if (!reorder.choose(choice)) ++overtaken;
  }
  EXPECT_GT(overtaken, 120);
  EXPECT_LT(overtaken, 280);
}

TEST(Reorder, AFloodStarvesNoMessage) {
  // So many others that a fair draw each time would pass over one message far longer.
  constexpr std::uint32_t others = 8, slots = 64;
  constexpr std::uint32_t bound = max_looks + others * slots;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Reorder reorder(seed, 0, others + 1, slots);
    const auto look = [&](bool with_ours) {
      reorder.begin_look();
      for (std::uint32_t queue = 1; queue <= others; ++queue)
        show(reorder, queue, ~std::uint64_t{0});
      if (with_ours) show(reorder, 0, 1);
    };
    Reorder::Choice choice;
    for (int i = 0; i < 1000; ++i) {
      look(false);
      reorder.choose(choice);
    }
    std::uint32_t looks = 0;
    for (bool chosen = false; !chosen; ++looks) {
      ASSERT_LE(looks, bound) << "seed " << seed;
      look(true);
      chosen = reorder.choose(choice) && choice.queue == 0;
    }
  }
}

TEST(Reorder, NothingShownNothingChosen) {
  Reorder reorder(1, 0, 1, depth);
  Reorder::Choice choice;
  for (int i = 0; i < 1000; ++i) {
    reorder.begin_look();
    EXPECT_EQ(reorder.candidates(), 0u);
    EXPECT_FALSE(reorder.choose(choice));
  }
}

}  // namespace
}  // namespace gex::net::emu
