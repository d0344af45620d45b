#include "team/barrier_flags.h"

#include <gtest/gtest.h>

#include <array>

namespace gex::team {
namespace {

constexpr std::uint32_t members = 4;

struct Flags {
  std::array<shm::BarrierFlag, members> flags{};
  std::array<const shm::BarrierFlag*, members> all{&flags[0], &flags[1], &flags[2], &flags[3]};

  void arrive(std::uint32_t member, std::uint32_t number, std::uint32_t core) {
    flags[member].core = core;
    flags[member].number = number;
  }
};

TEST(BarrierFlags, TheLeastIsWhereTheLastMemberIs) {
  Flags flags;
  for (std::uint32_t member = 0; member < members; ++member) flags.arrive(member, 5, 0);
  EXPECT_EQ(least_of(flags.all, 5), 5u);
  flags.arrive(2, 4, 0);
  EXPECT_EQ(least_of(flags.all, 5), 4u);
  // Who has gone on to the next barriers does not count for more.
  for (std::uint32_t member = 0; member < members; ++member) flags.arrive(member, 7, 0);
  EXPECT_EQ(least_of(flags.all, 5), 5u);
}

TEST(BarrierFlags, CountsWrapAround) {
  Flags flags;
  for (std::uint32_t member = 0; member < members; ++member) flags.arrive(member, 1, 0);
  flags.arrive(3, ~0U, 0);
  EXPECT_EQ(least_of(flags.all, 1), ~0U);
  EXPECT_TRUE(any_missing_on(0, flags.all, 1));
}

TEST(BarrierFlags, OnlyAMissingMemberOnTheSameCoreNeedsIt) {
  Flags flags;
  flags.arrive(0, 6, 0);
  flags.arrive(1, 6, 1);
  flags.arrive(2, 5, 1);
  flags.arrive(3, 6, 0);
  EXPECT_FALSE(any_missing_on(0, flags.all, 6)) << "both of this core have arrived";
  EXPECT_TRUE(any_missing_on(1, flags.all, 6)) << "member 2 has not";
  flags.arrive(2, 6, 1);
  EXPECT_FALSE(any_missing_on(1, flags.all, 6)) << "nobody is missing";
  EXPECT_TRUE(any_missing_on(0, flags.all, 7)) << "everybody is";
  EXPECT_FALSE(any_missing_on(2, flags.all, 7)) << "but nobody ran there";
}

}  // namespace
}  // namespace gex::team
