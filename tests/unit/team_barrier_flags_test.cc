#include "team/barrier_flags.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

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
  // A rank that has gone on to the next barriers does not count for more.
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
  EXPECT_FALSE(any_missing_on(1, flags.all, 6)) << "no rank is missing";
  EXPECT_TRUE(any_missing_on(0, flags.all, 7)) << "every rank is missing";
  EXPECT_FALSE(any_missing_on(2, flags.all, 7)) << "but no rank ran there";
}

/// A team whose members are threads.
struct Gathered {
  static constexpr std::uint32_t count = 9;
  std::array<shm::BarrierFlag, count> flags{};
  std::vector<const shm::BarrierFlag*> all;
  std::array<Gathering, count> gathering;
  std::atomic<std::uint32_t> raised{0};

  Gathered() {
    for (const shm::BarrierFlag& flag : flags) all.push_back(&flag);
  }
  void arrive(std::uint32_t member, std::uint32_t number) {
    gathering[member].arrive();
    flags[member].number.store(number, std::memory_order_release);
  }
  bool done(std::uint32_t member, std::uint32_t number) {
    return gathering[member].done(all, raised, member == 0, number);
  }
};

TEST(GatheredBarrier, IsDoneOnceAllHaveArrived) {
  Gathered team;
  for (std::uint32_t member = 0; member + 1 < Gathered::count; ++member) team.arrive(member, 1);
  EXPECT_FALSE(team.done(0, 1));
  EXPECT_FALSE(team.done(1, 1));
  team.arrive(Gathered::count - 1, 1);
  EXPECT_TRUE(team.done(0, 1));
  for (std::uint32_t member = 1; member < Gathered::count; ++member)
    EXPECT_TRUE(team.done(member, 1)) << "the first one has raised its flag";
  EXPECT_FALSE(team.done(0, 2));
}

TEST(GatheredBarrier, IsDoneWithoutTheFirstOnesAttention) {
  Gathered team;
  for (std::uint32_t member = 0; member < Gathered::count; ++member) team.arrive(member, 1);
  // Member 0 never looks.
  for (std::uint32_t member = 1; member < Gathered::count; ++member)
    while (!team.done(member, 1)) {
    }
  EXPECT_EQ(team.raised, 0u);
}

TEST(GatheredBarrier, OrdersWhatWasDoneBeforeIt) {
  constexpr std::uint32_t barriers = 200;
  Gathered team;
  std::array<std::uint32_t, Gathered::count> plain{};
  std::vector<std::thread> members;
  for (std::uint32_t me = 0; me < Gathered::count; ++me)
    members.emplace_back([&, me] {
      // Two barriers a round: between them all read, and none writes.
      for (std::uint32_t number = 1; number <= 2 * barriers; number += 2) {
        plain[me] = number;
        team.arrive(me, number);
        while (!team.done(me, number)) std::this_thread::yield();
        for (const std::uint32_t other : plain) EXPECT_EQ(other, number);
        team.arrive(me, number + 1);
        while (!team.done(me, number + 1)) std::this_thread::yield();
      }
    });
  for (std::thread& member : members) member.join();
}

}  // namespace
}  // namespace gex::team
