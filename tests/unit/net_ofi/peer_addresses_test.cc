// When addresses of peers are inserted in a provider's table.

#include "net/ofi/peer_addresses.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "net/ofi/habits.h"

namespace gex::net::ofi {
namespace {

constexpr std::size_t stride = 8;
constexpr std::byte refused{0xff};

/// A provider's table, which numbers names from 100 on, and refuses some.
struct NumberingTable : fid_av {
  NumberingTable() : fid_av{} {
    operations.insert = insert;
    ops = &operations;
  }
  static int insert(fid_av* table, const void* name, std::size_t count, fi_addr_t* addresses,
                    std::uint64_t, void*) {
    EXPECT_EQ(count, 1U);
    auto& inserted = static_cast<NumberingTable*>(table)->inserted;
    const std::byte first = *static_cast<const std::byte*>(name);
    if (first == refused) return -FI_EINVAL;
    inserted.push_back(std::to_integer<std::uint32_t>(first));
    *addresses = 99 + inserted.size();
    return 1;
  }

  fi_ops_av operations{};
  std::vector<std::uint32_t> inserted;  ///< ranks, in their order
};

/// Rank 0 of a job of six, whose names begin with their ranks.
class PeerAddressesTest : public testing::Test {
 protected:
  PeerAddressesTest() : names_(6 * stride) {
    host_.size = 6;
    host_.fatal = [](const char* text) {
      std::fprintf(stderr, "%s\n", text);
      std::_Exit(1);
    };
    for (std::size_t rank = 0; rank < 6; ++rank) names_[rank * stride] = std::byte(rank);
  }
  PeerAddresses addresses() { return {host_, &table_, names_.data(), stride}; }

  Host host_{};
  std::vector<std::byte> names_;
  NumberingTable table_;
};

TEST_F(PeerAddressesTest, AreInsertedAtTheFirstUse) {
  const PeerAddresses peers = addresses();
  EXPECT_TRUE(table_.inserted.empty());
  EXPECT_EQ(peers.of(4), 100U);
  EXPECT_EQ(peers.of(0), 101U);
  EXPECT_EQ(peers.of(4), 100U);
  EXPECT_EQ(table_.inserted, (std::vector<std::uint32_t>{4, 0}));
}

TEST_F(PeerAddressesTest, AreInsertedOnceByThreadsThatMeet) {
  const PeerAddresses peers = addresses();
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      for (std::uint32_t rank = 0; rank < 6; ++rank) EXPECT_GE(peers.of(rank), 100U);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table_.inserted.size(), 6U);
}

TEST_F(PeerAddressesTest, CanAllBeInsertedAtTheStart) {
  PeerAddresses peers = addresses();
  std::string error;
  EXPECT_TRUE(peers.insert_all(error));
  EXPECT_EQ(table_.inserted.size(), 6U);
  EXPECT_EQ(peers.of(5), 105U);
  EXPECT_EQ(table_.inserted.size(), 6U);
}

TEST_F(PeerAddressesTest, ThatAreRefusedAtTheStartAreAnError) {
  names_[3 * stride] = refused;
  PeerAddresses peers = addresses();
  std::string error;
  EXPECT_FALSE(peers.insert_all(error));
  EXPECT_EQ(error, "fi_av_insert of rank 3: Invalid argument");
}

TEST_F(PeerAddressesTest, ThatAreRefusedLaterEndTheJobWithTheRank) {
  names_[3 * stride] = refused;
  const PeerAddresses peers = addresses();
  EXPECT_EQ(peers.of(2), 100U);
  EXPECT_EXIT(peers.of(3), testing::ExitedWithCode(1),
              "^ofi: rank 0 cannot reach rank 3: fi_av_insert of rank 3: Invalid argument\n$");
}

TEST(RoomForAddresses, IsForAllWhereATableMoves) {
  EXPECT_EQ(room_for_addresses(habits_of("sockets"), 4097), 4097U);
  EXPECT_EQ(room_for_addresses(habits_of("an unknown one"), 4097), 4097U);
}

TEST(RoomForAddresses, IsForASixteenthWhereATableGrowsInPlace) {
  EXPECT_EQ(room_for_addresses(habits_of("tcp;ofi_rxm"), 4097), 257U);
  EXPECT_EQ(room_for_addresses(habits_of("cxi"), 500), 64U);
  EXPECT_EQ(room_for_addresses(habits_of("cxi"), 5), 5U);
}

}  // namespace
}  // namespace gex::net::ofi
