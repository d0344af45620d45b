// Messages that come before their operation has begun, or after it is done.

#include "coll/unexpected.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gex::coll {
namespace {

const std::array<std::byte, 2> two{std::byte{1}, std::byte{2}};
const std::array<std::byte, 1> one{std::byte{3}};

/// Messages that are taken, in words.
std::string taken_data(UnexpectedMessages& messages, std::uint32_t number,
                       bool with_results = true) {
  std::string taken;
  messages.take_data(
      number, [&](Phase phase) { return with_results || phase != Phase::result; },
      [&](const FlowName& flow, std::uint64_t offset, std::span<const std::byte> bytes) {
        taken += std::to_string(flow.peer) + '@' + std::to_string(offset);
        for (const std::byte each : bytes) taken += ':' + std::to_string(static_cast<int>(each));
        taken += ' ';
      });
  return taken;
}

TEST(UnexpectedMessages, AreKeptUntilTheirOperationTakesThem) {
  UnexpectedMessages messages;
  messages.keep_data({7, 1, Phase::operand}, 16, two);
  messages.keep_data({8, 2, Phase::operand}, 0, one);
  EXPECT_EQ(taken_data(messages, 6), "");
  EXPECT_EQ(taken_data(messages, 7), "1@16:1:2 ");
  EXPECT_EQ(taken_data(messages, 7), "");
  EXPECT_TRUE(messages.has_data());
  EXPECT_EQ(taken_data(messages, 8), "2@0:3 ");
  EXPECT_FALSE(messages.has_data());
  // In a buffer of one before.
  messages.keep_data({9, 4, Phase::round}, 1, one);
  EXPECT_EQ(taken_data(messages, 9), "4@1:3 ");
}

TEST(UnexpectedMessages, StayWhereThePlaceOfTheirPhaseIsInUse) {
  UnexpectedMessages messages;
  messages.keep_data({7, 1, Phase::result}, 0, one);
  messages.keep_data({7, 2, Phase::operand}, 0, two);
  EXPECT_EQ(taken_data(messages, 7, /*with_results=*/false), "2@0:1:2 ");
  EXPECT_EQ(taken_data(messages, 7), "1@0:3 ");
}

TEST(UnexpectedMessages, GiveGrantsOnce) {
  UnexpectedMessages messages;
  messages.keep_grant({7, 1, Phase::result}, 4);
  messages.keep_grant({8, 1, Phase::result}, 5);
  std::vector<std::uint32_t> granted;
  const auto take = [&](const FlowName&, std::uint32_t blocks) { granted.push_back(blocks); };
  messages.take_grants(7, take);
  messages.take_grants(7, take);
  EXPECT_EQ(granted, std::vector<std::uint32_t>{4});
}

TEST(UnexpectedMessages, AreOwedUntilTheyHaveCome) {
  UnexpectedMessages messages;
  EXPECT_FALSE(messages.is_owed());
  messages.owe({7, 1, Phase::round});
  EXPECT_FALSE(messages.take_owed({7, 1, Phase::operand}));
  EXPECT_FALSE(messages.take_owed({7, 2, Phase::round}));
  EXPECT_TRUE(messages.is_owed());
  EXPECT_TRUE(messages.take_owed({7, 1, Phase::round}));
  EXPECT_FALSE(messages.is_owed());
}

}  // namespace
}  // namespace gex::coll
