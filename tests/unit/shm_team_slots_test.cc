// Slots of teams: which are given, where they lie, and how many a limit leaves.

#include "shm/team_slots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "base/os_memory.h"

namespace gex::shm {
namespace {

constexpr std::uint32_t members = 3;
constexpr std::uint32_t count = 48;
constexpr std::uint64_t offset = 2 * 4096;

/// Slots of two members, which map the same file.
class Slots : public testing::Test {
 protected:
  os::MemoryFile file_ = os::create_memory_file("slots", offset + TeamSlots::bytes(members, count));
  TeamSlots one_{file_.descriptor.get(), offset, members, count};
  TeamSlots other_{file_.descriptor.get(), offset, members, count};
};

TEST_F(Slots, TheLowestFreeOneIsGiven) {
  for (std::uint32_t slot = 0; slot < count; ++slot) EXPECT_EQ(one_.reserve(count), slot);
  EXPECT_EQ(one_.reserve(count), TeamSlots::none);
  one_.release(31, 0, false);
  one_.release(7, 0, false);
  EXPECT_EQ(one_.reserve(count), 7U);
  EXPECT_EQ(one_.reserve(count), 31U);
  EXPECT_EQ(one_.reserve(count), TeamSlots::none);
  // Members do not compete.
  EXPECT_EQ(other_.reserve(2), 0U);
  EXPECT_EQ(other_.reserve(2), 1U);
  EXPECT_EQ(other_.reserve(2), TeamSlots::none);
}

TEST_F(Slots, NoTwoThingsOverlapAndAllMembersSeeThem) {
  struct Range {
    const std::byte* from;
    std::size_t bytes;
    bool operator<(const Range& right) const { return from < right.from; }
  };
  std::set<Range> ranges;
  const auto add = [&ranges](const auto& thing) {
    ranges.insert({reinterpret_cast<const std::byte*>(&thing), sizeof thing});
  };
  std::uint32_t value = 0;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    for (std::uint32_t member = 0; member < members; ++member) {
      for (const BarrierKind kind :
           {BarrierKind::calls, BarrierKind::completions, BarrierKind::named}) {
        add(one_.barrier_flag(slot, kind, member));
        add(one_.group_flag(slot, kind, member));
        add(one_.barrier_stage(slot, kind, member));
        one_.barrier_flag(slot, kind, member).number = ++value;
        one_.group_flag(slot, kind, member).number = ++value;
        one_.barrier_stage(slot, kind, member).leader = ++value;
      }
      add(one_.post_board(slot, member));
      one_.post_board(slot, member).read = ++value;
    }
  }
  ASSERT_EQ(ranges.size(), std::size_t{count} * members * 10);
  const std::byte* behind = nullptr;
  for (const Range& range : ranges) {
    EXPECT_GE(range.from, behind);
    behind = range.from + range.bytes;
  }
  value = 0;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    for (std::uint32_t member = 0; member < members; ++member) {
      for (const BarrierKind kind :
           {BarrierKind::calls, BarrierKind::completions, BarrierKind::named}) {
        EXPECT_EQ(other_.barrier_flag(slot, kind, member).number, ++value);
        EXPECT_EQ(other_.group_flag(slot, kind, member).number, ++value);
        EXPECT_EQ(other_.barrier_stage(slot, kind, member).leader, ++value);
      }
      EXPECT_EQ(other_.post_board(slot, member).read, ++value);
    }
  }
}

TEST_F(Slots, OneThatIsReleasedIsZeroAgain) {
  constexpr std::uint32_t member = 1;
  const std::uint32_t slot = other_.reserve(count);
  for (const std::uint32_t used : {slot, slot + 1}) {
    other_.barrier_flag(used, BarrierKind::named, member).number = 1;
    other_.group_flag(used, BarrierKind::calls, member).number = 2;
    BarrierStage& stage = one_.barrier_stage(used, BarrierKind::completions, member);
    stage.leader = 3;
    stage.rounds[max_barrier_rounds - 1].received[1] = 4;
    stage.rounds[0].sent = 5;
  }
  static_cast<void>(other_.barrier_stage(slot, BarrierKind::calls, member));
  other_.release(slot, member, true);
  const auto has_zeros = [&](std::uint32_t used) {
    const BarrierStage& stage = one_.barrier_stage(used, BarrierKind::completions, member);
    return other_.barrier_flag(used, BarrierKind::named, member).number == 0 &&
           other_.group_flag(used, BarrierKind::calls, member).number == 0 && stage.leader == 0 &&
           stage.rounds[max_barrier_rounds - 1].received[1] == 0 && stage.rounds[0].sent == 0;
  };
  EXPECT_TRUE(has_zeros(slot));
  EXPECT_FALSE(has_zeros(slot + 1)) << "that of another team";
}

TEST(TeamSlots, AreAsManyAsTheLimitHolds) {
  for (const std::uint32_t size : {1U, 2U, 16U, 1024U}) {
    EXPECT_EQ(TeamSlots::count_within(UINT64_MAX, size), max_team_slots);
    EXPECT_EQ(TeamSlots::count_within(0, size), min_team_slots);
    const std::uint64_t bytes = TeamSlots::bytes(size, 64);
    EXPECT_EQ(TeamSlots::count_within(bytes, size), 64U);
    EXPECT_EQ(TeamSlots::count_within(bytes - 1, size), 56U);
  }
}

}  // namespace
}  // namespace gex::shm
