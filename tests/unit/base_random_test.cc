// The generators give the published sequences, so a seed means the same everywhere for ever.

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

namespace gex {
namespace {

static_assert(std::uniform_random_bit_generator<SplitMix64>);
static_assert(std::uniform_random_bit_generator<Random>);

TEST(SplitMix64, GivesThePublishedSequence) {
  SplitMix64 random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
        16408922859458223821u}) {
    EXPECT_EQ(random(), expected);
  }
}

TEST(Random, GivesThePublishedSequence) {
  Random random(1, 2, 3, 4);
  for (const std::uint64_t expected :
       {std::uint64_t{11520}, std::uint64_t{0}, std::uint64_t{1509978240}, 1215971899390074240u}) {
    EXPECT_EQ(random(), expected);
  }
}

TEST(Random, ASeedAndStreamAlwaysGiveTheSameNumbers) {
  Random first(7, 3), second(7, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first(), second());
}

TEST(Random, SeedsAndStreamsDiffer) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    for (std::uint64_t stream = 0; stream < 32; ++stream) firsts.insert(Random(seed, stream)());
  }
  EXPECT_EQ(firsts.size(), 1024u);
}

TEST(Random, BelowStaysBelowAndReachesEverything) {
  Random random(1);
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}}) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i) seen.insert(random.below(bound));
    EXPECT_EQ(seen.size(), bound);
    EXPECT_LT(*seen.rbegin(), bound);
  }
  bool large = false;
  for (int i = 0; i < 64; ++i) large |= random.below(~std::uint64_t{0}) >> 63 != 0;
  EXPECT_TRUE(large);
}

TEST(Random, UnitIsInTheHalfOpenInterval) {
  Random random(1);
  double least = 1, max = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = random.unit();
    least = std::min(least, value);
    max = std::max(max, value);
  }
  EXPECT_GE(least, 0.0);
  EXPECT_LT(least, 0.01);
  EXPECT_LT(max, 1.0);
  EXPECT_GT(max, 0.99);
}

}  // namespace
}  // namespace gex
