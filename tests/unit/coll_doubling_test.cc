// Rounds at doubling distance, carried out in one process, and what they cost a million ranks.

#include "coll/doubling.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace gex::coll {
namespace {

/// A block of one rank for another; in a gather for all.
using Block = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t all = ~0U;

void carry_out(const Doubling& rounds) {
  const std::uint32_t count = rounds.count;
  std::vector<std::vector<Block>> rows(count, std::vector<Block>(count));
  for (std::uint32_t self = 0; self < count; ++self)
    for (std::uint32_t place = 0; place < (rounds.exchanges ? count : 1); ++place)
      rows[self][place] = {self, rounds.exchanges ? rounds.first_of(self, place) : all};
  for (unsigned round = 0; round < rounds.rounds(); ++round) {
    const auto before = rows;
    for (std::uint32_t self = 0; self < count; ++self) {
      const std::uint32_t from = rounds.from(self, round);
      ASSERT_EQ(rounds.to(from, round), self);
      rounds.for_each_place(round, [&](std::uint32_t sent, std::uint32_t received) {
        rows[self][received] = before[from][sent];
      });
    }
  }
  for (std::uint32_t self = 0; self < count; ++self)
    for (std::uint32_t place = 0; place < count; ++place)
      ASSERT_EQ(rows[self][place],
                (Block{rounds.last_of(self, place), rounds.exchanges ? self : all}))
          << "rank " << self << " of " << count << ", place " << place;
}

TEST(Doubling, BringsEachBlockWhereItBelongs) {
  for (std::uint32_t count = 1; count <= 40; ++count) {
    carry_out({count, true});
    carry_out({count, false});
  }
}

TEST(Doubling, TakesAMillionRanksTwentyMessagesEach) {
  for (const auto& [count, messages] : {std::pair{65'536U, 16U}, {1'048'576U, 20U}}) {
    const Doubling gather{count, false};
    const Doubling exchange{count, true};
    EXPECT_EQ(gather.rounds(), messages);
    EXPECT_EQ(exchange.rounds(), messages);
    std::uint64_t gathered = 0;
    for (unsigned round = 0; round < messages; ++round) {
      gathered += gather.blocks(round);
      EXPECT_EQ(exchange.blocks(round), count / 2);
    }
    // Each other's block once.
    EXPECT_EQ(gathered, count - 1);
  }
}

}  // namespace
}  // namespace gex::coll
