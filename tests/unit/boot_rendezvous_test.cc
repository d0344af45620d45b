#include "boot/rendezvous.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace gex::boot {
namespace {

FrameHeader gather_header(std::uint32_t sequence, std::uint64_t total, std::uint64_t offset) {
  FrameHeader header;
  header.kind = FrameKind::gather;
  header.sequence = sequence;
  header.total = total;
  header.offset = offset;
  return header;
}

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST(Gather, JoinsContributionsInRankOrder) {
  Gather gather(HostPart{"host", 0, 3});
  EXPECT_FALSE(gather.pending());
  for (const std::uint32_t rank : {2u, 0u, 1u}) {
    EXPECT_FALSE(gather.complete());
    EXPECT_EQ(gather.add(rank, gather_header(0, 2, 0), bytes(2, static_cast<int>(rank))),
              std::nullopt);
    EXPECT_TRUE(gather.pending());
    EXPECT_TRUE(gather.has_finished(rank));
  }
  ASSERT_TRUE(gather.complete());
  const Gather::Result result = gather.take();
  EXPECT_EQ(result.sequence, 0u);
  const std::array<int, 6> expected = {0, 0, 1, 1, 2, 2};
  ASSERT_EQ(result.bytes->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(static_cast<int>((*result.bytes)[i]), expected[i]);
  }
  EXPECT_FALSE(gather.pending());
  EXPECT_FALSE(gather.has_finished(0));
}

TEST(Gather, TakesPiecesOfDifferentRanksInTurn) {
  Gather gather(HostPart{"host", 0, 2});
  EXPECT_EQ(gather.add(0, gather_header(0, 4, 0), bytes(3, 1)), std::nullopt);
  EXPECT_EQ(gather.add(1, gather_header(0, 4, 0), bytes(1, 2)), std::nullopt);
  EXPECT_FALSE(gather.has_finished(0));
  EXPECT_EQ(gather.add(0, gather_header(0, 4, 3), bytes(1, 1)), std::nullopt);
  EXPECT_EQ(gather.add(1, gather_header(0, 4, 1), bytes(3, 2)), std::nullopt);
  ASSERT_TRUE(gather.complete());
  auto expected = bytes(4, 1);
  expected.insert(expected.end(), 4, std::byte{2});
  EXPECT_EQ(*gather.take().bytes, expected);
}

TEST(Gather, OfHostsPutsEachWhereItsRanksBelong) {
  HostParts hosts;
  hosts.add("one", 1);
  hosts.add("two", 3);
  Gather gather(hosts);
  EXPECT_EQ(gather.add(1, gather_header(0, 6, 0), bytes(4, 2)), std::nullopt);
  // Of as many bytes, for fewer ranks.
  ASSERT_TRUE(gather.add(0, gather_header(0, 6, 0), bytes(6, 1)));
  ASSERT_TRUE(Gather(hosts).add(1, gather_header(0, 7, 0), bytes(7, 1)));
  EXPECT_EQ(gather.add(0, gather_header(0, 2, 0), bytes(2, 1)), std::nullopt);
  EXPECT_EQ(gather.add(1, gather_header(0, 6, 4), bytes(2, 3)), std::nullopt);
  ASSERT_TRUE(gather.complete());
  auto expected = bytes(2, 1);
  expected.insert(expected.end(), 4, std::byte{2});
  expected.insert(expected.end(), 2, std::byte{3});
  EXPECT_EQ(*gather.take().bytes, expected);
  EXPECT_EQ(gather.sequence(), 1u);
}

TEST(Gather, OfALaterHostCountsFromItsFirstRank) {
  Gather gather(HostPart{"two", 5, 2});
  EXPECT_EQ(gather.add(1, gather_header(0, 1, 0), bytes(1, 2)), std::nullopt);
  EXPECT_EQ(gather.add(0, gather_header(0, 2, 0), bytes(1, 1)),
            "exchanges 2 bytes while rank 6 exchanges 1");
  EXPECT_EQ(gather.add(0, gather_header(0, 1, 0), bytes(1, 1)), std::nullopt);
  EXPECT_EQ(gather.take().bytes->size(), 2u);
}

TEST(Gather, AnExchangeOfNothingIsABarrier) {
  Gather gather(HostPart{"host", 0, 2});
  for (std::uint32_t round = 0; round < 3; ++round) {
    EXPECT_EQ(gather.add(0, gather_header(round, 0, 0), {}), std::nullopt);
    EXPECT_FALSE(gather.complete());
    EXPECT_EQ(gather.add(1, gather_header(round, 0, 0), {}), std::nullopt);
    ASSERT_TRUE(gather.complete());
    const Gather::Result result = gather.take();
    EXPECT_EQ(result.sequence, round);
    EXPECT_TRUE(result.bytes->empty());
  }
}

TEST(Gather, RefusesWhatBreaksTheRules) {
  const auto refused = [](Gather& gather, std::uint32_t rank, const FrameHeader& header,
                          std::size_t count) {
    return gather.add(rank, header, bytes(count, 0)).value_or("");
  };
  Gather gather(HostPart{"host", 0, 2});
  EXPECT_EQ(gather.add(0, gather_header(0, 8, 0), bytes(4, 0)), std::nullopt);
  EXPECT_NE(refused(gather, 1, gather_header(1, 8, 0), 8), "");      // another exchange
  EXPECT_NE(refused(gather, 1, gather_header(0, 16, 0), 8), "");     // another size
  EXPECT_NE(refused(gather, 1, gather_header(0, 8, 4), 4), "");      // a hole
  EXPECT_NE(refused(gather, 0, gather_header(0, 8, 0), 4), "");      // the same piece again
  EXPECT_NE(refused(gather, 0, gather_header(0, 8, 4), 5), "");      // beyond the end
  EXPECT_NE(refused(gather, 0, gather_header(0, 8, 4), 0), "");      // nothing
  EXPECT_NE(refused(gather, 1, gather_header(0, 8, ~0ULL), 8), "");  // an offset that wraps
  EXPECT_EQ(gather.add(0, gather_header(0, 8, 4), bytes(4, 0)), std::nullopt);
  EXPECT_NE(refused(gather, 0, gather_header(0, 8, 8), 1), "");  // after its last piece
  EXPECT_FALSE(gather.complete());
}

TEST(Gather, RefusesMoreThanTheLimit) {
  Gather gather(HostPart{"host", 0, 1024});
  EXPECT_NE(gather.add(0, gather_header(0, max_exchange / 1024 + 1, 0), bytes(1, 0)), std::nullopt);
  EXPECT_NE(gather.add(0, gather_header(0, ~0ULL, 0), bytes(1, 0)), std::nullopt);
  EXPECT_FALSE(gather.pending());
}

TEST(Gather, SurvivesFramesOfChance) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Gather gather(HostPart{"host", 0, 3});
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t rank = random() % 3;
      const auto header = gather_header(random() % 2, random() % 9, random() % 9);
      gather.add(rank, header, bytes(random() % 9, 1));
      if (gather.complete()) {
        const auto result = gather.take();
        ASSERT_EQ(result.bytes->size() % 3, 0u);
        ASSERT_EQ(*result.bytes, bytes(result.bytes->size(), 1));
      }
    }
  }
}

os::FileDescriptor open_something() {
  return os::FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

FrameHeader share_header(std::uint32_t first, std::uint32_t count, std::uint32_t owner) {
  FrameHeader header;
  header.kind = FrameKind::share;
  header.first = first;
  header.count = count;
  header.owner = owner;
  return header;
}

/// Given by the first of them.
FrameHeader share_header(std::uint32_t first, std::uint32_t count) {
  return share_header(first, count, first);
}

TEST(Sharing, CompletesWithItsLastMember) {
  Sharing sharing(HostPart{"host", 0, 8});
  std::optional<Sharing::Group> group;
  EXPECT_EQ(sharing.add(3, share_header(2, 3), {}, group), std::nullopt);
  EXPECT_FALSE(group);
  os::FileDescriptor given = open_something();
  const int number = given.get();
  EXPECT_EQ(sharing.add(2, share_header(2, 3), std::move(given), group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(sharing.add(4, share_header(2, 3), {}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->first, 2u);
  EXPECT_EQ(group->count, 3u);
  EXPECT_EQ(group->descriptor->get(), number);
}

TEST(Sharing, GroupsDoNotDisturbEachOther) {
  Sharing sharing(HostPart{"host", 0, 4});
  std::optional<Sharing::Group> group;
  EXPECT_EQ(sharing.add(0, share_header(0, 2), open_something(), group), std::nullopt);
  EXPECT_EQ(sharing.add(2, share_header(2, 2), open_something(), group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(sharing.add(3, share_header(2, 2), {}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->first, 2u);
  group.reset();
  EXPECT_EQ(sharing.add(1, share_header(0, 2), {}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->first, 0u);
}

TEST(Sharing, HasItsDescriptorFromTheOwnerWhoeverThatIs) {
  Sharing sharing(HostPart{"host", 0, 3});
  std::optional<Sharing::Group> group;
  EXPECT_EQ(sharing.add(0, share_header(0, 3, 1), {}, group), std::nullopt);
  // The next one of the same ranks, of which some are still in this one.
  EXPECT_EQ(sharing.add(0, share_header(0, 3, 2), {}, group), std::nullopt);
  os::FileDescriptor given = open_something();
  const int number = given.get();
  EXPECT_EQ(sharing.add(1, share_header(0, 3, 1), std::move(given), group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(sharing.add(2, share_header(0, 3, 1), {}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->owner, 1u);
  EXPECT_EQ(group->descriptor->get(), number);
}

TEST(Sharing, KnowsWhoIsWaitedFor) {
  Sharing sharing(HostPart{"host", 0, 4});
  std::optional<Sharing::Group> group;
  const auto all = [](std::uint32_t) { return true; };
  EXPECT_EQ(sharing.waits_for(all), std::nullopt);
  sharing.add(2, share_header(1, 3), {}, group);
  EXPECT_EQ(sharing.waits_for(all), 1u);
  EXPECT_EQ(sharing.waits_for([](std::uint32_t rank) { return rank == 3; }), 3u);
  EXPECT_EQ(sharing.waits_for([](std::uint32_t rank) { return rank == 2 || rank == 0; }),
            std::nullopt);
}

TEST(Sharing, RefusesWhatBreaksTheRules) {
  Sharing sharing(HostPart{"host", 0, 4});
  std::optional<Sharing::Group> group;
  EXPECT_NE(sharing.add(0, share_header(0, 0), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(0, share_header(1, 2), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(3, share_header(1, 2), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(3, share_header(3, 2), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(3, share_header(2, ~0u), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(2, share_header(~0u, 4), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(1, share_header(1, 2, 0), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(1, share_header(1, 2, 3), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(0, share_header(0, 2), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(1, share_header(0, 2), open_something(), group), std::nullopt);
  EXPECT_EQ(sharing.add(1, share_header(0, 2), {}, group), std::nullopt);
  EXPECT_NE(sharing.add(1, share_header(0, 2), {}, group), std::nullopt);
  EXPECT_FALSE(group);
}

}  // namespace
}  // namespace gex::boot
