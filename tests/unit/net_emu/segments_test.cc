#include "net/emu/segments.h"

#include <gtest/gtest.h>

#include <cstring>

#include "segment_file.h"

namespace gex::net::emu {
namespace {

/// As a process of another neighborhood finds it.
SegmentFile distant_segment_file(std::uint32_t rank) {
  SegmentFile file = segment_file(rank);
  file.address = nullptr;
  return file;
}

using EmuSegments = WithSegmentFile;
using EmuSegmentsDeathTest = WithSegmentFile;

TEST_F(EmuSegments, AreFoundByTheirOwnersAddresses) {
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  SegmentKey key{};
  ASSERT_EQ(segments.enter(own_part + 4096, 8192, &key), 0);
  EXPECT_EQ(segments.find(at(key, own_part + 4096), 8192), own_part + 4096);
  EXPECT_EQ(segments.find(at(key, own_part + 5000), 1), own_part + 5000);
}

TEST_F(EmuSegments, AreTheSameMemoryForAProcessThatMapsTheFile) {
  Segments owner(host, layout, network.bytes());
  owner.map_all();
  SegmentKey key{};
  ASSERT_EQ(owner.enter(own_part, part_size, &key), 0);
  Host distant = host;
  distant.segment_file = distant_segment_file;
  Segments other(distant, layout, network.bytes());
  other.map_all();
  std::byte* found = other.find(at(key, own_part + 77), 8);
  EXPECT_NE(found, own_part + 77);
  std::memcpy(found, "segments", 8);
  EXPECT_EQ(std::memcmp(own_part + 77, "segments", 8), 0);
}

TEST_F(EmuSegments, OfTheClientsMemoryAreRefused) {
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  std::byte elsewhere[64];
  SegmentKey key{};
  EXPECT_NE(segments.enter(elsewhere, sizeof elsewhere, &key), 0);
  EXPECT_NE(segments.enter(own_part + part_size - 8, 16, &key), 0);
}

TEST_F(EmuSegments, WithoutAFileAreRefused) {
  host.segment_file = nullptr;
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  SegmentKey key{};
  EXPECT_NE(segments.enter(own_part, 64, &key), 0);
}

TEST_F(EmuSegments, GiveTheirPlaceBack) {
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  SegmentKey key{};
  for (std::uint32_t i = 0; i < registrations_each; ++i)
    ASSERT_EQ(segments.enter(own_part, 64, &key), 0);
  SegmentKey more{};
  EXPECT_NE(segments.enter(own_part, 64, &more), 0);
  segments.leave(key);
  EXPECT_EQ(segments.enter(own_part, 64, &more), 0);
}

TEST_F(EmuSegmentsDeathTest, ThatWereGivenBackEndTheJobWhenTheyAreUsed) {
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  SegmentKey key{};
  ASSERT_EQ(segments.enter(own_part, 64, &key), 0);
  segments.leave(key);
  SegmentKey successor{};
  ASSERT_EQ(segments.enter(own_part, 64, &successor), 0);
  EXPECT_EXIT(segments.find(at(key, own_part), 8), testing::ExitedWithCode(7),
              "a segment of rank 0 that is registered no more");
}

TEST_F(EmuSegmentsDeathTest, EndTheJobBeyondTheirEnd) {
  Segments segments(host, layout, network.bytes());
  segments.map_all();
  SegmentKey key{};
  ASSERT_EQ(segments.enter(own_part + 64, 64, &key), 0);
  EXPECT_EXIT(segments.find(at(key, own_part + 121), 8), testing::ExitedWithCode(7),
              "8 bytes outside the segment of rank 0");
  EXPECT_EXIT(segments.find(at(key, own_part + 63), 8), testing::ExitedWithCode(7),
              "8 bytes outside the segment of rank 0");
}

}  // namespace
}  // namespace gex::net::emu
