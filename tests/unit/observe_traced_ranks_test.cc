// The ranks that GEX_TRACE_RANKS names.

#include "observe/traced_ranks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace gex::trace {
namespace {

/// The ranks named of twelve, three a host.
std::vector<std::uint32_t> named_by(std::string_view text) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < 12; ++rank)
    if (names_rank(text, rank, rank / 3).value()) ranks.push_back(rank);
  return ranks;
}

using Ranks = std::vector<std::uint32_t>;

TEST(TracedRanks, AreListsEveryNthOrThoseOfHosts) {
  EXPECT_EQ(named_by("").size(), 12U);
  EXPECT_EQ(named_by("0-2,7"), (Ranks{0, 1, 2, 7}));
  EXPECT_EQ(named_by("11"), (Ranks{11}));
  EXPECT_EQ(named_by("100-200"), (Ranks{}));
  EXPECT_EQ(named_by("every:5"), (Ranks{0, 5, 10}));
  EXPECT_EQ(named_by("hosts:2"), (Ranks{0, 1, 2, 3, 4, 5}));
}

TEST(TracedRanks, AreRefusedWhereNoRanksAreNamed) {
  for (const char* text :
       {"a", "0-", "3-2", "1,,2", "1,", "every:0", "every:", "hosts:x", "0 1", "every:3,4", "-1"})
    EXPECT_FALSE(names_rank(text, 0, 0).has_value()) << text;
}

}  // namespace
}  // namespace gex::trace
