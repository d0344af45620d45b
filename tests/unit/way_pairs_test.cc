// Pairs of ranks by classes: which way messages go between them.

#include "way/pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gex {
namespace {

std::vector<std::string> texts(const std::vector<PairClass>& classes) {
  std::vector<std::string> result;
  for (const PairClass& one : classes) result.push_back(describe_pairs(one));
  return result;
}

using Texts = std::vector<std::string>;

TEST(Pairs, OneRankHasNone) {
  EXPECT_EQ(texts(classify_pairs({{0}, 0}, {})), Texts());
}

TEST(Pairs, OneHost) {
  EXPECT_EQ(texts(classify_pairs({{0, 0, 0}, 0}, {})), Texts{"ranks 0-2 among themselves"});
  EXPECT_EQ(texts(classify_pairs({{0, 0, 0}, 1}, {})),
            Texts{"ranks of one host in different neighborhoods (0-2)"});
  EXPECT_EQ(texts(classify_pairs({{0, 0, 0, 0, 0}, 2}, {})),
            (Texts{"ranks of one neighborhood (0,1 | 2,3)",
                   "ranks of one host in different neighborhoods (0-4)"}));
}

TEST(Pairs, SeveralHosts) {
  EXPECT_EQ(texts(classify_pairs({{0, 1}, 0}, {})), Texts{"ranks of different hosts (0 | 1)"});
  EXPECT_EQ(texts(classify_pairs({{0, 1, 0, 1, 0}, 2}, {})),
            (Texts{"ranks of one neighborhood (0,2 | 1,3)",
                   "ranks of one host in different neighborhoods (0,2,4)",
                   "ranks of different hosts (0,2,4 | 1,3)"}));
}

TEST(Pairs, RanksThatTakeDifferentWaysAreClassesOfTheirOwn) {
  const shm::Placement placement({0, 1, 2, 2}, 0);
  const Way verbs{"verbs", "the best"};
  const Way tcp{"tcp", "no device"};
  const std::vector<WaysOfRank> ways{{{}, verbs}, {{}, tcp}, {{}, verbs}, {{}, verbs}};
  const std::vector<PairClass> classes = classify_pairs(placement, ways);
  EXPECT_EQ(texts(classes), (Texts{"ranks 2,3 among themselves",
                                   "ranks of different hosts (0 | 1 | 2,3), from ranks 0,2,3",
                                   "ranks of different hosts (0 | 1 | 2,3), from ranks 1"}));
  EXPECT_EQ(classes[1].way.name, "verbs");
  EXPECT_EQ(classes[2].way.reason, "no device");
  EXPECT_EQ(class_of(classes, placement, 0, 1), 1);
  EXPECT_EQ(class_of(classes, placement, 1, 0), 2);
  EXPECT_EQ(class_of(classes, placement, 2, 3), 0);
  EXPECT_EQ(class_of(classes, placement, 2, 2), -1);
}

TEST(Pairs, ALargeJobIsAFewLines) {
  std::vector<std::uint32_t> hosts(1024);
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) hosts[rank] = rank / 16;
  const shm::Placement placement(hosts, 8);
  const std::vector<WaysOfRank> ways(hosts.size(), {{"tcp", ""}, {"tcp", ""}});
  const std::vector<PairClass> classes = classify_pairs(placement, ways);
  EXPECT_EQ(texts(classes),
            (Texts{"ranks of one neighborhood (0-7 | 8-15 | 16-23 | 24-31 | and 124 more)",
                   "ranks of one host in different neighborhoods (0-15 | 16-31 | 32-47 | 48-63 | "
                   "and 60 more)",
                   "ranks of different hosts (0-15 | 16-31 | 32-47 | 48-63 | and 60 more)"}));
  // Every pair has a class, of its kind.
  for (std::uint32_t from = 0; from < hosts.size(); from += 97)
    for (std::uint32_t to = 0; to < hosts.size(); ++to) {
      const int number = class_of(classes, placement, from, to);
      if (from == to)
        ASSERT_EQ(number, -1);
      else
        ASSERT_EQ(classes.at(static_cast<std::size_t>(number)).kind, kind_of(placement, from, to));
    }
}

TEST(Pairs, AnyListOfRanksStaysInALine) {
  std::vector<std::uint32_t> hosts(1024);
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) hosts[rank] = rank * 7919 % 3;
  for (const std::string& text : texts(classify_pairs({hosts, 0}, {})))
    EXPECT_LT(text.size(), 1000u) << text;
}

}  // namespace
}  // namespace gex
