// emu: payload built in place, where it is sent from.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "ranks.h"

namespace gex::net::emu {
namespace {

TEST(EmuBuffer, APayloadBuiltInPlaceIsNotCopied) {
  Ranks ranks(2, 2);
  void* place = ranks[0].buffer(request_channel, 1, payload_room);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % message_alignment, 0u);
  const std::string payload = pattern(payload_room, 1);
  std::memcpy(place, payload.data(), payload.size());
  const std::string header = pattern(48, 2);
  const Piece pieces[] = {{header.data(), header.size()}, {place, payload.size()}};
  ASSERT_EQ(ranks[0].send(request_channel, 1, pieces), sent);
  handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
    EXPECT_EQ(static_cast<const std::byte*>(data) + header.size(), place);
    EXPECT_EQ(std::string(static_cast<const char*>(data), size), header + payload);
  };
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
}

TEST(EmuBuffer, AHeaderOfAnySizeGoesInFront) {
  Ranks ranks(2, 1);
  for (std::size_t header_size = 0; header_size <= header_room; ++header_size) {
    for (const std::size_t payload_size : {std::size_t{0}, std::size_t{1}, payload_room}) {
      void* place = ranks[0].buffer(reply_channel, 1, payload_room);
      ASSERT_NE(place, nullptr);
      const std::string payload = pattern(payload_size, 3);
      std::memcpy(place, payload.data(), payload.size());
      const std::string header = pattern(header_size, 4);
      const Piece pieces[] = {{header.data(), header.size()}, {place, payload.size()}};
      ASSERT_EQ(ranks[0].send(reply_channel, 1, pieces), sent);
      handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % message_alignment, 0u);
        ASSERT_TRUE(std::string(static_cast<const char*>(data), size) == header + payload);
      };
      ASSERT_EQ(ranks[1].poll(both, everything), 1u);
    }
  }
}

TEST(EmuBuffer, AHeaderAboveTheRoomStillFitsASmallPayload) {
  Ranks ranks(2, 1);
  void* place = ranks[0].buffer(request_channel, 1, 100);
  ASSERT_NE(place, nullptr);
  const std::string payload = pattern(100, 3), header = pattern(max_message - 100, 4);
  std::memcpy(place, payload.data(), payload.size());
  const Piece pieces[] = {{header.data(), header.size()}, {place, payload.size()}};
  ASSERT_EQ(ranks[0].send(request_channel, 1, pieces), sent);
  handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
    EXPECT_TRUE(std::string(static_cast<const char*>(data), size) == header + payload);
  };
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
}

TEST(EmuBuffer, AnUnsentBufferHoldsUpNoOtherMessage) {
  Ranks ranks(2, 2);
  void* place = ranks[0].buffer(request_channel, 1, 8);
  ASSERT_NE(place, nullptr);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(send_number(ranks[0], request_channel, 1, i), sent);
    ASSERT_EQ(poll_numbers(ranks[1]), std::vector<std::uint64_t>{i});
  }
  ASSERT_EQ(send_number(ranks[0], request_channel, 1, 10), sent);
  EXPECT_EQ(ranks[0].buffer(request_channel, 1, 8), nullptr);
  ranks[0].release(place);
  EXPECT_EQ(ranks[0].buffer(request_channel, 1, 8), place);
  ranks[0].release(place);
  poll_numbers(ranks[1]);
}

TEST(EmuBuffer, TooLargeIsRefused) {
  Ranks ranks(2, 1);
  EXPECT_EQ(ranks[0].buffer(request_channel, 1, payload_room + 1), nullptr);
  EXPECT_EQ(send_number(ranks[0], request_channel, 1, 1), sent);
  poll_numbers(ranks[1]);
}

TEST(EmuBuffer, AReceivedMessageCanBeTheSourceOfTheNext) {
  Ranks ranks(3, 1);
  ASSERT_EQ(send_bytes(ranks[0], request_channel, 1, pattern(payload_start, 6)), sent);
  handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
    const Piece whole{data, size};
    EXPECT_EQ(ranks[1].send(request_channel, 2, std::span(&whole, 1)), sent);
    EXPECT_EQ(ranks[1].send(reply_channel, 0, std::span(&whole, 1)), sent);
  };
  EXPECT_EQ(ranks[1].poll(both, everything), 1u);
  for (const std::uint32_t rank : {0u, 2u}) {
    handler = [&](std::uint32_t source, Channel, const void* data, std::size_t size) {
      EXPECT_EQ(source, 1u);
      EXPECT_EQ(std::string(static_cast<const char*>(data), size), pattern(payload_start, 6));
    };
    EXPECT_EQ(ranks[rank].poll(both, everything), 1u);
  }
}

TEST(EmuBufferDeathTest, ReleaseOfSomethingElseEndsTheJob) {
  Ranks ranks(2, 1);
  int other = 0;
  EXPECT_EXIT(ranks[0].release(&other), testing::ExitedWithCode(7), "not a buffer of rank 0");
  void* place = ranks[0].buffer(request_channel, 1, 8);
  EXPECT_EXIT(ranks[1].release(place), testing::ExitedWithCode(7), "not a buffer of rank 1");
  EXPECT_EXIT(ranks[0].release(static_cast<char*>(place) + 16), testing::ExitedWithCode(7),
              "not a buffer of rank 0");
  ranks[0].release(place);
}

}  // namespace
}  // namespace gex::net::emu
