// The tree of a team's exchange as a plan, for as many ranks as there will ever be.

#include "team/exchange_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gex::team {
namespace {

/// The cost of an exchange of so many ranks if every rank gives a block of `block` bytes, its size
/// included. Checks on the way that blocks arrive at every rank in rank order.
struct Cost {
  std::uint64_t messages = 0;
  std::uint32_t depth = 0;         ///< messages one after the other, up or down
  std::uint32_t max_children = 0;  ///< of one rank
  std::uint64_t root_sends = 0;    ///< bytes
  std::uint64_t root_receives = 0;
};

Cost cost_of(std::uint32_t ranks, std::uint64_t block) {
  const ExchangeTree tree(ranks);
  Cost cost;
  std::vector<std::uint8_t> depths(ranks);
  std::vector<bool> named(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::uint32_t children = 0;
    // What a rank has gathered begins with its own block and is without gaps.
    std::uint32_t next = rank + 1;
    tree.for_each_child(rank, [&](std::uint32_t child) {
      EXPECT_EQ(child, next);
      EXPECT_EQ(ExchangeTree::parent(child), rank);
      EXPECT_FALSE(named[child]);
      named[child] = true;
      next = tree.end(child);
      depths[child] = static_cast<std::uint8_t>(depths[rank] + 1);
      ++children;
      // One message up, one down, if neither is cut.
      cost.messages += 2;
      if (rank == 0) {
        cost.root_receives += block * (tree.end(child) - child);
        cost.root_sends += block * ranks;
      }
    });
    EXPECT_EQ(next, tree.end(rank));
    EXPECT_EQ(children, tree.children(rank));
    cost.depth = std::max<std::uint32_t>(cost.depth, depths[rank]);
    cost.max_children = std::max(cost.max_children, children);
  }
  EXPECT_EQ(std::ranges::count(named, true), std::int64_t{ranks} - 1);
  return cost;
}

std::uint32_t digits_of(std::uint64_t ranks) {
  std::uint32_t digits = 0;
  for (std::uint64_t reached = 1; reached < ranks; reached *= ExchangeTree::fan) ++digits;
  return digits;
}

TEST(ExchangeTree, ReachesEveryRankOnceInRankOrder) {
  for (std::uint32_t ranks = 1; ranks <= 600; ++ranks) {
    const Cost cost = cost_of(ranks, 1);
    EXPECT_EQ(cost.messages, 2 * (std::uint64_t{ranks} - 1));
    EXPECT_LE(cost.depth, digits_of(ranks));
    if (HasFailure()) FAIL() << "with " << ranks << " ranks";
  }
}

TEST(ExchangeTree, CostsNoRankMoreThanItsDigitsInAJobOfAMillion) {
  // 7 children for each octal digit of the number of ranks.
  for (const auto& [ranks, children] : {std::pair{65'536U, 7U * 5 + 1}, {1'048'576U, 7U * 6 + 3}}) {
    const Cost cost = cost_of(ranks, 12);
    EXPECT_EQ(cost.messages, 2 * (std::uint64_t{ranks} - 1));
    EXPECT_EQ(cost.max_children, children);
    EXPECT_LE(cost.depth, digits_of(ranks));
    EXPECT_EQ(cost.root_receives, 12 * (std::uint64_t{ranks} - 1));
    EXPECT_EQ(cost.root_sends, 12 * std::uint64_t{ranks} * children);
  }
}

}  // namespace
}  // namespace gex::team
