#include "launch/rendezvous.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "job/packed_table.h"
#include "launch/hosts/host_tree.h"

namespace gex::launch {
namespace {

job::FrameHeader gather_header(std::uint32_t sequence, std::uint64_t total, std::uint64_t offset) {
  job::FrameHeader header;
  header.kind = job::FrameKind::gather;
  header.sequence = sequence;
  header.total = total;
  header.offset = offset;
  return header;
}

/// A host that has all ranks of a job.
job::HostPart host_of(std::uint32_t ranks) {
  job::HostParts hosts;
  hosts.add("host", ranks);
  return hosts[0];
}

std::vector<job::RankSet> ranks_of(const job::HostParts& hosts) {
  std::vector<job::RankSet> ranks;
  for (const job::HostPart& part : hosts) ranks.push_back(part.ranks);
  return ranks;
}

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

/// Gives a contributor's blocks of so many ranks in pieces of at most that many bytes.
Fault add_packed(Gather& gather, std::uint32_t contributor, std::span<const std::byte> blocks,
                 std::size_t ranks, std::size_t piece = SIZE_MAX) {
  const std::vector<std::byte> packed = job::pack_table(blocks, ranks);
  std::size_t at = 0;
  do {
    const std::span rest = std::span(packed).subspan(at);
    const auto sent = rest.first(std::min(piece, rest.size()));
    if (Fault wrong = gather.add(contributor, gather_header(0, packed.size(), at), sent))
      return wrong;
    at += sent.size();
  } while (at < packed.size());
  return std::nullopt;
}

/// The result of an exchange between the hosts of so many ranks.
std::vector<std::byte> unpacked_result(Gather& gather, std::size_t ranks) {
  const auto table = job::unpack_table(*gather.take().bytes, ranks, job::max_exchange);
  EXPECT_TRUE(table);
  return table.value_or(std::vector<std::byte>());
}

TEST(Gather, JoinsContributionsInRankOrder) {
  Gather gather(host_of(3));
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
  Gather gather(host_of(2));
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
  job::HostParts hosts;
  hosts.add("one", 1);
  hosts.add("two", 3);
  Gather gather(ranks_of(hosts));
  auto of_two = bytes(4, 2);
  of_two.insert(of_two.end(), 2, std::byte{3});
  EXPECT_EQ(add_packed(gather, 1, of_two, 3), std::nullopt);
  // As many bytes in all, for fewer ranks.
  EXPECT_EQ(add_packed(gather, 0, bytes(6, 1), 1), "exchanges 6 bytes while rank 1 exchanges 2");
  EXPECT_TRUE(Gather(ranks_of(hosts)).add(1, gather_header(0, 7, 0), bytes(7, 1)));

  Gather other(ranks_of(hosts));
  EXPECT_EQ(add_packed(other, 1, of_two, 3), std::nullopt);
  EXPECT_EQ(add_packed(other, 0, bytes(2, 1), 1), std::nullopt);
  ASSERT_TRUE(other.complete());
  auto expected = bytes(2, 1);
  expected.insert(expected.end(), of_two.begin(), of_two.end());
  EXPECT_EQ(unpacked_result(other, 4), expected);
  EXPECT_EQ(other.sequence(), 1u);
}

TEST(Gather, OfHostsWithRanksInTurnPutsPiecesWhereverTheyAreCut) {
  job::HostParts hosts;
  for (const char* const name : {"one", "two"}) hosts.add(name);
  for (const std::uint32_t host : {0, 1, 0, 1, 1}) hosts.place_next(host);
  for (std::size_t piece = 1; piece <= 12; ++piece) {
    Gather gather(ranks_of(hosts));
    for (const std::uint32_t host : {1u, 0u}) {
      std::vector<std::byte> mine;
      for (const std::uint32_t rank : hosts[host].ranks)
        for (int i = 0; i < 3; ++i) mine.push_back(static_cast<std::byte>(10 * rank + i));
      EXPECT_EQ(add_packed(gather, host, mine, hosts[host].ranks.size(), piece), std::nullopt);
    }
    ASSERT_TRUE(gather.complete());
    std::vector<std::byte> expected;
    for (int rank = 0; rank < 5; ++rank)
      for (int i = 0; i < 3; ++i) expected.push_back(static_cast<std::byte>(10 * rank + i));
    EXPECT_EQ(unpacked_result(gather, 5), expected);
  }
}

TEST(Gather, WhatStaysOnEachHostIsABarrierBetweenThem) {
  job::HostParts hosts;
  hosts.add("one", 2);
  hosts.add("two", 1);
  const auto on_host = [](std::uint64_t total) {
    job::FrameHeader header = gather_header(0, total, 0);
    header.count = static_cast<std::uint32_t>(job::Exchange::on_host);
    return header;
  };
  Gather one(hosts[0]);
  EXPECT_EQ(one.add(0, on_host(3), bytes(3, 1)), std::nullopt);
  EXPECT_EQ(one.add(1, on_host(3), bytes(3, 2)), std::nullopt);
  const Gather::Result of_host = one.take();
  EXPECT_EQ(of_host.kind, job::Exchange::on_host);
  EXPECT_EQ(of_host.bytes->size(), 6u);
  Gather all(ranks_of(hosts));
  EXPECT_TRUE(Gather(ranks_of(hosts)).add(0, on_host(3), bytes(3, 1)));
  EXPECT_EQ(all.add(0, on_host(0), {}), std::nullopt);
  EXPECT_EQ(all.add(1, on_host(0), {}), std::nullopt);
  ASSERT_TRUE(all.complete());
  const Gather::Result of_all = all.take();
  EXPECT_EQ(of_all.kind, job::Exchange::on_host);
  EXPECT_TRUE(of_all.bytes->empty());
}

TEST(Gather, OfOneOfSeveralHostsCountsItsOwnRanks) {
  Gather gather(job::HostPart{"two", {5, 8}});
  EXPECT_EQ(gather.add(1, gather_header(0, 1, 0), bytes(1, 2)), std::nullopt);
  EXPECT_EQ(gather.add(0, gather_header(0, 2, 0), bytes(1, 1)),
            "exchanges 2 bytes while rank 8 exchanges 1");
  EXPECT_EQ(gather.add(0, gather_header(0, 1, 0), bytes(1, 1)), std::nullopt);
  EXPECT_EQ(gather.take().bytes->size(), 2u);
}

/// The contributions of the hosts that `tree` reaches to the process that has it, by agents as it
/// has them, packed; `frames` is how many that process receives.
std::vector<std::byte> gathered_by(const HostTree& tree, const job::HostParts& hosts,
                                   std::uint32_t self, std::uint32_t fanout, std::size_t& frames) {
  Gather gather(tree.ranks_by_first_hop(hosts));
  frames = 0;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    if (tree.parent(host) != HostTree::here) continue;
    std::vector<std::byte> given;
    if (host == self || !tree.is_branch(host)) {
      for (const std::uint32_t rank : hosts[host].ranks)
        for (int shift : {0, 8}) given.push_back(static_cast<std::byte>(rank >> shift));
      given = job::pack_table(given, hosts[host].ranks.size());
    } else {
      const std::array own{host};
      std::size_t there = 0;
      given = gathered_by(HostTree(hosts.size(), own, tree.below(host), fanout), hosts, host,
                          fanout, there);
      EXPECT_LE(there, fanout + 1);
    }
    EXPECT_EQ(gather.add(host, gather_header(0, given.size(), 0), given), std::nullopt);
    ++frames;
  }
  EXPECT_TRUE(gather.complete());
  return *gather.take().bytes;
}

TEST(Gather, ByAgentsGivesTheRootAFrameForEachThatItStarts) {
  for (const bool cyclic : {false, true}) {
    constexpr std::uint32_t size = 1024;
    job::HostParts hosts;
    std::vector<std::uint32_t> all;
    for (std::uint32_t host = 0; host < size; ++host) {
      hosts.add("host");
      all.push_back(host);
    }
    for (std::uint32_t rank = 0; rank < 4 * size; ++rank)
      hosts.place_next(cyclic ? rank % size : rank / 4);
    std::size_t frames = 0;
    const auto result = *job::unpack_table(
        gathered_by(HostTree(size, {}, all, 32), hosts, HostTree::here, 32, frames), 4 * size,
        job::max_exchange);
    EXPECT_EQ(frames, 32u);
    ASSERT_EQ(result.size(), std::size_t{8} * size);
    for (std::uint32_t rank = 0; rank < 4 * size; ++rank)
      ASSERT_EQ(static_cast<std::uint32_t>(result[2 * rank]) |
                    static_cast<std::uint32_t>(result[2 * rank + 1]) << 8,
                rank);
  }
}

TEST(Gather, RanksOfAnotherContributorKeepTheOrder) {
  Gather branch({{0, 3}, {1, 4}, {2}});
  EXPECT_EQ(add_packed(branch, 0, std::array{std::byte{10}, std::byte{13}}, 2), std::nullopt);
  EXPECT_EQ(add_packed(branch, 2, std::array{std::byte{12}}, 1), std::nullopt);
  EXPECT_FALSE(branch.complete());
  branch.reassign({1, 4});
  ASSERT_TRUE(branch.complete());
  EXPECT_EQ(unpacked_result(branch, 3), (std::vector{std::byte{10}, std::byte{12}, std::byte{13}}));

  Gather root({{0, 1, 2, 3, 4}, {}, {5}});
  EXPECT_EQ(add_packed(root, 2, std::array{std::byte{15}}, 1), std::nullopt);
  EXPECT_TRUE(add_packed(root, 1, bytes(2, 1), 2));
  root.reassign({1, 4}, 1);
  EXPECT_EQ(add_packed(root, 1, std::array{std::byte{11}, std::byte{14}}, 2), std::nullopt);
  EXPECT_EQ(add_packed(root, 0, std::array{std::byte{10}, std::byte{12}, std::byte{13}}, 3),
            std::nullopt);
  ASSERT_TRUE(root.complete());
  std::vector<std::byte> expected;
  for (int value = 10; value <= 15; ++value) expected.push_back(static_cast<std::byte>(value));
  EXPECT_EQ(unpacked_result(root, 6), expected);
}

/// The block of a rank as of `udp` with one lane.
struct Opened {
  std::uint32_t address[4];
  std::uint32_t family;
  std::uint16_t ports[8];
  std::uint64_t receive_buffer;
};

Opened opened_by(std::uint32_t rank, std::uint32_t host) {
  Opened opened{};
  opened.address[0] = 0x0a000000 + host;
  opened.family = 2;
  // As of chance, in no order.
  opened.ports[0] = static_cast<std::uint16_t>(32768 + rank * 40503U % 28000);
  opened.receive_buffer = std::uint64_t{4} << 20;
  return opened;
}

/// The packed table of the hosts that `tree` reaches. Adds what a process has received and sends,
/// with the result, if it is the one at the top.
std::vector<std::byte> packed_by(const HostTree& tree, const job::HostParts& hosts,
                                 std::uint32_t self, std::uint32_t fanout,
                                 std::uint64_t& received) {
  Gather gather(tree.ranks_by_first_hop(hosts));
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    if (tree.parent(host) != HostTree::here) continue;
    std::vector<std::byte> given;
    if (host == self || !tree.is_branch(host)) {
      for (const std::uint32_t rank : hosts[host].ranks) {
        const Opened opened = opened_by(rank, host);
        const auto block = std::as_bytes(std::span(&opened, 1));
        given.insert(given.end(), block.begin(), block.end());
      }
      given = job::pack_table(given, hosts[host].ranks.size());
    } else {
      std::uint64_t below = 0;
      given = packed_by(HostTree(hosts.size(), std::array{host}, tree.below(host), fanout), hosts,
                        host, fanout, below);
    }
    received += given.size();
    EXPECT_EQ(gather.add(host, gather_header(0, given.size(), 0), given), std::nullopt);
  }
  EXPECT_TRUE(gather.complete());
  return *gather.take().bytes;
}

// A table of addresses takes the root two bytes of a port for each rank, to receive and to send to
// each agent, and a few bytes for each host.
TEST(Gather, ByAgentsGivesTheRootTwoBytesOfEachRanksAddress) {
  struct Job {
    std::uint32_t hosts;
    std::uint32_t ranks_of_host;
  };
  for (const auto& [count, ranks_of_host] :
       {Job{8, 8}, Job{64, 8}, Job{512, 128}, Job{1024, 128}}) {
    constexpr std::uint32_t fanout = 32;
    job::HostParts hosts;
    std::vector<std::uint32_t> all;
    for (std::uint32_t host = 0; host < count; ++host) {
      hosts.add("host", ranks_of_host);
      all.push_back(host);
    }
    std::uint64_t received = 0;
    const auto result =
        packed_by(HostTree(count, {}, all, fanout), hosts, HostTree::here, fanout, received);
    const std::uint64_t ranks = hosts.ranks();
    const std::uint64_t links = std::min(count, fanout);
    // A run of three bytes at most for each host and one more for each that the second byte of the
    // address changes at, and the columns that are equal.
    const std::uint64_t table = 2 * ranks + 3 * count + 4 * (1 + count / 256) + 32;
    EXPECT_LE(result.size(), table);
    EXPECT_LE(received, 2 * ranks + 3 * count + links * 48);
    const auto blocks = job::unpack_table(result, ranks, job::max_exchange);
    ASSERT_TRUE(blocks);
    ASSERT_EQ(blocks->size(), ranks * sizeof(Opened));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Opened expected = opened_by(rank, rank / ranks_of_host);
      ASSERT_EQ(std::memcmp(blocks->data() + rank * sizeof expected, &expected, sizeof expected),
                0);
    }
  }
}

TEST(Gather, AnExchangeOfNothingIsABarrier) {
  Gather gather(host_of(2));
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

job::FrameHeader least_header(std::uint32_t sequence, std::uint64_t total) {
  job::FrameHeader header = gather_header(sequence, total, 0);
  header.count = static_cast<std::uint32_t>(job::Exchange::least);
  return header;
}
std::span<const std::byte> bytes_of(const std::array<std::uint64_t, 2>& numbers) {
  return std::as_bytes(std::span(numbers));
}

TEST(Gather, TheLeastIsAsLargeForAHostAndForTheJobAsForARank) {
  // Ranks 0 and 1 are on one host, rank 2 is on the other.
  job::HostParts hosts;
  hosts.add("one", 2);
  hosts.add("two", 1);
  Gather one(hosts[0]);
  Gather all(ranks_of(hosts));
  const std::array<std::uint64_t, 2> given[] = {
      {5, std::uint64_t{1} << 63}, {7, ~std::uint64_t{0}}, {6, 3}};
  EXPECT_EQ(one.add(1, least_header(0, 16), bytes_of(given[1])), std::nullopt);
  EXPECT_FALSE(one.complete());
  EXPECT_EQ(one.add(0, least_header(0, 16), bytes_of(given[0])), std::nullopt);
  ASSERT_TRUE(one.complete());
  const Gather::Result of_host = one.take();
  EXPECT_EQ(of_host.kind, job::Exchange::least);
  ASSERT_EQ(of_host.bytes->size(), 16U);
  EXPECT_EQ(all.add(0, least_header(0, 16), *of_host.bytes), std::nullopt);
  EXPECT_EQ(all.add(1, least_header(0, 16), bytes_of(given[2])), std::nullopt);
  ASSERT_TRUE(all.complete());
  EXPECT_TRUE(std::ranges::equal(*all.take().bytes, bytes_of({5, 3})));
}

TEST(Gather, RefusesTheLeastOfWhatAreNoNumbers) {
  const auto refused = [](const job::FrameHeader& header, std::size_t size) {
    return Gather(host_of(2)).add(0, header, bytes(size, 1)).has_value();
  };
  EXPECT_FALSE(refused(least_header(0, 16), 16));
  EXPECT_TRUE(refused(least_header(0, 12), 12));
  EXPECT_TRUE(refused(least_header(0, job::max_least + 8), job::max_least + 8));
  EXPECT_TRUE(refused(least_header(0, 16), 8)) << "in pieces";
  job::FrameHeader unknown = least_header(0, 16);
  unknown.count = 3;
  EXPECT_TRUE(refused(unknown, 16));
  // One rank gives a block, another one numbers of as many bytes.
  Gather gather(host_of(2));
  EXPECT_EQ(gather.add(0, gather_header(0, 16, 0), bytes(16, 1)), std::nullopt);
  EXPECT_NE(gather.add(1, least_header(0, 16), bytes(16, 1)), std::nullopt);
}

TEST(Gather, RefusesWhatBreaksTheRules) {
  const auto refused = [](Gather& gather, std::uint32_t rank, const job::FrameHeader& header,
                          std::size_t count) {
    return gather.add(rank, header, bytes(count, 0)).value_or("");
  };
  Gather gather(host_of(2));
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
  Gather gather(host_of(1024));
  EXPECT_NE(gather.add(0, gather_header(0, job::max_exchange / 1024 + 1, 0), bytes(1, 0)),
            std::nullopt);
  EXPECT_NE(gather.add(0, gather_header(0, ~0ULL, 0), bytes(1, 0)), std::nullopt);
  EXPECT_FALSE(gather.pending());
}

TEST(Gather, SurvivesFramesOfChance) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Gather gather(host_of(3));
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

/// A frame of `rank` that shares a descriptor, with a descriptor if the rank is the owner.
struct Share {
  std::uint32_t rank;
  std::vector<std::uint32_t> ranks;
  std::uint32_t owner;
  os::FileDescriptor descriptor;
};

Fault add(Sharing& sharing, Share share, std::optional<Sharing::Group>& group) {
  job::FrameHeader header;
  header.kind = job::FrameKind::share;
  header.owner = share.owner;
  return sharing.add(share.rank, header, std::as_bytes(std::span(share.ranks)),
                     std::move(share.descriptor), group);
}

TEST(Sharing, CompletesWithItsLastMember) {
  Sharing sharing(host_of(8));
  std::optional<Sharing::Group> group;
  EXPECT_EQ(add(sharing, {3, {2, 3, 6}, 2, {}}, group), std::nullopt);
  EXPECT_FALSE(group);
  os::FileDescriptor given = open_something();
  const int number = given.get();
  EXPECT_EQ(add(sharing, {2, {2, 3, 6}, 2, std::move(given)}, group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(add(sharing, {6, {2, 3, 6}, 2, {}}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->ranks, (job::RankSet{2, 3, 6}));
  EXPECT_EQ(group->descriptor->get(), number);
}

TEST(Sharing, GroupsDoNotDisturbEachOther) {
  Sharing sharing(host_of(4));
  std::optional<Sharing::Group> group;
  EXPECT_EQ(add(sharing, {0, {0, 2}, 0, open_something()}, group), std::nullopt);
  EXPECT_EQ(add(sharing, {1, {1, 3}, 1, open_something()}, group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(add(sharing, {3, {1, 3}, 1, {}}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->ranks, (job::RankSet{1, 3}));
  group.reset();
  EXPECT_EQ(add(sharing, {2, {0, 2}, 0, {}}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->ranks, (job::RankSet{0, 2}));
}

TEST(Sharing, HasItsDescriptorFromWhicheverOwner) {
  Sharing sharing(host_of(3));
  std::optional<Sharing::Group> group;
  EXPECT_EQ(add(sharing, {0, {0, 1, 2}, 1, {}}, group), std::nullopt);
  // These ranks share the next descriptor while some have not received this one.
  EXPECT_EQ(add(sharing, {0, {0, 1, 2}, 2, {}}, group), std::nullopt);
  os::FileDescriptor given = open_something();
  const int number = given.get();
  EXPECT_EQ(add(sharing, {1, {0, 1, 2}, 1, std::move(given)}, group), std::nullopt);
  EXPECT_FALSE(group);
  EXPECT_EQ(add(sharing, {2, {0, 1, 2}, 1, {}}, group), std::nullopt);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->owner, 1u);
  EXPECT_EQ(group->descriptor->get(), number);
}

TEST(Sharing, ListsRanksThatAreWaitedFor) {
  Sharing sharing(host_of(6));
  std::optional<Sharing::Group> group;
  const auto all = [](std::uint32_t) { return true; };
  EXPECT_EQ(sharing.waits_for(all), std::nullopt);
  EXPECT_EQ(add(sharing, {3, {1, 3, 5}, 1, {}}, group), std::nullopt);
  EXPECT_EQ(sharing.waits_for(all), 1u);
  EXPECT_EQ(sharing.waits_for([](std::uint32_t rank) { return rank == 5; }), 5u);
  EXPECT_EQ(sharing.waits_for([](std::uint32_t rank) { return rank == 3 || rank == 2; }),
            std::nullopt);
}

TEST(Sharing, RefusesWhatBreaksTheRules) {
  Sharing sharing(job::HostPart{"host", {0, 1, 4, 5}});
  std::optional<Sharing::Group> group;
  EXPECT_NE(add(sharing, {0, {}, 0, {}}, group), std::nullopt);
  EXPECT_NE(add(sharing, {0, {1, 4}, 1, {}}, group), std::nullopt);      // without itself
  EXPECT_NE(add(sharing, {0, {0, 2}, 2, {}}, group), std::nullopt);      // with another host's
  EXPECT_NE(add(sharing, {5, {5, ~0u}, ~0u, {}}, group), std::nullopt);  // with an invalid rank
  EXPECT_NE(add(sharing, {1, {4, 1}, 4, {}}, group), std::nullopt);      // in another order
  EXPECT_NE(add(sharing, {1, {1, 1, 4}, 4, {}}, group), std::nullopt);   // with one twice
  EXPECT_NE(add(sharing, {1, {1, 4}, 0, {}}, group),
            std::nullopt);  // with a descriptor from another rank than the owner
  EXPECT_NE(add(sharing, {0, {0, 1}, 0, {}}, group), std::nullopt);
  EXPECT_NE(add(sharing, {1, {0, 1}, 0, open_something()}, group), std::nullopt);
  EXPECT_EQ(add(sharing, {1, {0, 1}, 0, {}}, group), std::nullopt);
  EXPECT_NE(add(sharing, {1, {0, 1}, 0, {}}, group), std::nullopt);
  EXPECT_FALSE(group);
  job::FrameHeader header;
  const std::array<std::byte, 6> torn{};
  EXPECT_NE(sharing.add(0, header, torn, {}, group), std::nullopt);
}

}  // namespace
}  // namespace gex::launch
