#include "net/emu/segments.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "segment_file.h"

namespace gex::net::emu {
namespace {

using EmuSegments = WithSegmentFile;
using EmuSegmentsDeathTest = WithSegmentFile;

TEST_F(EmuSegments, AreFoundByTheirOwnersAddresses) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  ASSERT_EQ(segments.enter(own_part + 4096 + 48, 8192, &key), 0);
  std::byte* const start = segments.find(at(key, own_part + 4096 + 48), 8192);
  EXPECT_EQ(segments.find(at(key, own_part + 5000), 1), start + (5000 - 4096 - 48));
}

TEST_F(EmuSegments, AreTheSameMemoryForAPeer) {
  Segments owner(host, layout, network.bytes());
  owner.open_all();
  Segments::Key key{};
  ASSERT_EQ(owner.enter(own_part, part_size, &key), 0);
  Segments other(host, layout, network.bytes());
  other.open_all();
  std::byte* found = other.find(at(key, own_part + 77), 8);
  EXPECT_NE(found, own_part + 77);
  std::memcpy(found, "segments", 8);
  EXPECT_EQ(std::memcmp(own_part + 77, "segments", 8), 0);
}

/// Bytes that this process has mapped of the file.
std::size_t mapped_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    std::size_t from = 0, to = 0;
    if (line.find("memfd:segments") != std::string::npos &&
        std::sscanf(line.c_str(), "%zx-%zx", &from, &to) == 2)
      bytes += to - from;
  }
  return bytes;
}

TEST_F(EmuSegments, AreMappedFromTheirFirstUseUntilTheirPlaceIsUsedAgain) {
  const std::size_t before = mapped_bytes();
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  ASSERT_EQ(segments.enter(own_part, 8192, &key), 0);
  EXPECT_EQ(mapped_bytes(), before);
  segments.find(at(key, own_part), 8);
  segments.find(at(key, own_part + 64), 8);
  EXPECT_EQ(mapped_bytes(), before + 8192);
  segments.leave(key);
  ASSERT_EQ(segments.enter(own_part + 16384, 4096, &key), 0);
  segments.find(at(key, own_part + 16384), 8);
  EXPECT_EQ(mapped_bytes(), before + 4096);
}

TEST_F(EmuSegments, AreKnownAsOwnWhileTheyAreRegistered) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  EXPECT_FALSE(segments.is_own(own_part, 64));
  ASSERT_EQ(segments.enter(own_part, 8192, &key), 0);
  EXPECT_TRUE(segments.is_own(own_part + 64, 8128));
  EXPECT_FALSE(segments.is_own(own_part + 64, 8129));
  segments.leave(key);
  EXPECT_FALSE(segments.is_own(own_part, 64));
}

TEST_F(EmuSegments, OfTheClientsMemoryAreRefused) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  std::byte elsewhere[64];
  Segments::Key key{};
  EXPECT_NE(segments.enter(elsewhere, sizeof elsewhere, &key), 0);
  EXPECT_NE(segments.enter(own_part + part_size - 8, 16, &key), 0);
}

TEST_F(EmuSegments, WithoutAFileAreRefused) {
  host.segment_file = nullptr;
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  EXPECT_NE(segments.enter(own_part, 64, &key), 0);
}

TEST_F(EmuSegments, GiveTheirPlaceBack) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  for (std::uint32_t i = 0; i < registrations_each; ++i)
    ASSERT_EQ(segments.enter(own_part, 64, &key), 0);
  Segments::Key more{};
  EXPECT_NE(segments.enter(own_part, 64, &more), 0);
  segments.leave(key);
  EXPECT_EQ(segments.enter(own_part, 64, &more), 0);
}

TEST_F(EmuSegmentsDeathTest, ThatWereGivenBackEndTheJobWhenTheyAreUsed) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  ASSERT_EQ(segments.enter(own_part, 64, &key), 0);
  segments.leave(key);
  Segments::Key successor{};
  ASSERT_EQ(segments.enter(own_part, 64, &successor), 0);
  EXPECT_EXIT(segments.find(at(key, own_part), 8), testing::ExitedWithCode(7),
              "a segment of rank 0 that is no longer registered");
}

TEST_F(EmuSegmentsDeathTest, EndTheJobBeyondTheirEnd) {
  Segments segments(host, layout, network.bytes());
  segments.open_all();
  Segments::Key key{};
  ASSERT_EQ(segments.enter(own_part + 64, 64, &key), 0);
  EXPECT_EXIT(segments.find(at(key, own_part + 121), 8), testing::ExitedWithCode(7),
              "8 bytes outside the segment of rank 0");
  EXPECT_EXIT(segments.find(at(key, own_part + 63), 8), testing::ExitedWithCode(7),
              "8 bytes outside the segment of rank 0");
}

}  // namespace
}  // namespace gex::net::emu
