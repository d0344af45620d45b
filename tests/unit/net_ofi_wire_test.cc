// Bytes that reach an ofi port, of which some are a message of a peer.

#include "net/ofi/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/random.h"

namespace gex::net::ofi {
namespace {

class Wire : public testing::Test {
 protected:
  Wire() {
    host.rank = 2;
    host.size = 4;
    host.cookie = 0x1234567890abcdef;
  }
  /// A message as a peer would send it.
  std::vector<std::byte> message(std::uint64_t cookie, std::uint32_t source, Kind kind,
                                 std::size_t size) {
    std::vector<std::byte> bytes(sizeof(Stamp) + filled_up(size));
    const Stamp stamp = Stamp::of(cookie, source, kind, size);
    std::memcpy(bytes.data(), &stamp, sizeof stamp);
    return bytes;
  }
  bool is_taken(const std::vector<std::byte>& bytes) {
    return read_stamp(host, bytes.data(), bytes.size()).has_value();
  }
  Host host{};
};

TEST_F(Wire, WhatAPeerSendsIsReadAsItWasMeant) {
  for (const Kind kind : {Kind::request, Kind::reply, Kind::farewell}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{16}, max_message}) {
      const auto bytes = message(host.cookie, 3, kind, size);
      const auto stamp = read_stamp(host, bytes.data(), bytes.size());
      ASSERT_TRUE(stamp.has_value()) << size;
      EXPECT_EQ(stamp->source, 3u);
      EXPECT_EQ(stamp->kind(), kind);
      EXPECT_EQ(stamp->size(), size);
    }
  }
}

TEST_F(Wire, WhatNoPeerCanHaveSentIsNot) {
  EXPECT_FALSE(is_taken(message(host.cookie + 1, 3, Kind::request, 8))) << "another job";
  EXPECT_FALSE(is_taken(message(host.cookie, 4, Kind::request, 8))) << "no such rank";
  EXPECT_FALSE(is_taken(message(host.cookie, 2, Kind::request, 8))) << "this rank itself";
  EXPECT_TRUE(is_taken(message(host.cookie, 3, Kind::tally, sizeof(Tally))));
  EXPECT_FALSE(is_taken(message(host.cookie, 3, Kind::tally, sizeof(Tally) - 1))) << "no tally";
  EXPECT_FALSE(is_taken(message(host.cookie, 3, Kind::tally, sizeof(Tally) + 16))) << "no tally";
  EXPECT_TRUE(is_taken(message(host.cookie, 3, Kind::lane_offer, sizeof(LaneOffer))));
  EXPECT_FALSE(is_taken(message(host.cookie, 3, Kind::lane_offer, sizeof(LaneOffer) - 16)))
      << "no offer";
  EXPECT_FALSE(is_taken(message(host.cookie, 3, Kind::request, max_message + 1))) << "too long";
  auto longer = message(host.cookie, 3, Kind::request, 8);
  longer.resize(longer.size() + 16);
  EXPECT_FALSE(is_taken(longer)) << "longer than its size";
  auto cut = message(host.cookie, 3, Kind::request, 100);
  for (std::size_t size = 0; size < cut.size(); ++size)
    EXPECT_FALSE(read_stamp(host, cut.data(), size).has_value()) << "cut to " << size;
}

// Whatever is taken lies within what arrived, also when the cookie was guessed.
TEST_F(Wire, NothingTakenReachesBeyondItsEnd) {
  Random random(5, 0);
  for (int round = 0; round < 100000; ++round) {
    std::vector<std::byte> bytes(random.below(200));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    if (bytes.size() >= sizeof host.cookie)
      std::memcpy(bytes.data(), &host.cookie, sizeof host.cookie);
    const auto stamp = read_stamp(host, bytes.data(), bytes.size());
    if (!stamp) continue;
    EXPECT_LE(sizeof *stamp + stamp->size(), bytes.size());
    EXPECT_LT(stamp->source, host.size);
  }
}

// Messages of which a little is not as a peer sent it, in blocks of exactly their size.
TEST_F(Wire, NothingTakenOfChangedMessagesReachesBeyondItsEnd) {
  int taken = 0;
  for (std::uint64_t seed = 0; seed < 50000; ++seed) {
    Random random(seed, 1);
    std::vector<std::byte> bytes =
        message(host.cookie, static_cast<std::uint32_t>(random.below(host.size)),
                static_cast<Kind>(random.below(5)), random.below(300));
    for (std::uint64_t changes = random.below(3); changes != 0; --changes) {
      // The words behind the cookie are a message's description of itself.
      const std::size_t at = sizeof host.cookie + random.below(sizeof(Stamp) - sizeof host.cookie);
      bytes[at] ^= std::byte{1} << random.below(8);
    }
    std::size_t size = bytes.size();
    if (random.below(4) == 0) size = random.below(size + 1);
    const std::unique_ptr<std::byte[]> block(new std::byte[size]);
    std::copy_n(bytes.begin(), size, block.get());
    const auto stamp = read_stamp(host, block.get(), size);
    if (!stamp) continue;
    ++taken;
    ASSERT_LE(sizeof *stamp + stamp->size(), size) << "seed " << seed;
    ASSERT_LT(stamp->source, host.size) << "seed " << seed;
    ASSERT_NE(stamp->source, host.rank) << "seed " << seed;
    ASSERT_LE(stamp->kind(), Kind::lane_offer) << "seed " << seed;
    ASSERT_TRUE(stamp->kind() != Kind::tally || stamp->size() == sizeof(Tally)) << "seed " << seed;
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace gex::net::ofi
