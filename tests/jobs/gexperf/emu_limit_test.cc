// The limits that the rows over emu are held against.

#include "emu_limit.h"

#include <gtest/gtest.h>

namespace gexperf {
namespace {

Row row_of(OverEmu what, std::size_t bytes) {
  return {.name = "row",
          .group = Group::emu,
          .size = "",
          .measurement = "emu.row",
          .over_emu = what,
          .emu_bytes = bytes};
}

/// The time that so many take, with room for 16 messages.
double time_of(OverEmu what, std::size_t bytes, const std::string& model, std::uint64_t count) {
  return emu_time(row_of(what, bytes), model, 16).of(count);
}

constexpr const char* usual =
    "latency=1us,send_overhead=100ns,receive_overhead=200ns,bandwidth=1GB/s";

TEST(EmuLimit, OfATransferIsARoundTripAndItsBytes) {
  EXPECT_DOUBLE_EQ(time_of(OverEmu::transfer, 8, usual, 1), 100 + 8 + 2 * 1000);
  EXPECT_DOUBLE_EQ(time_of(OverEmu::transfer, 8, usual, 100), 100 * (100 + 8 + 2 * 1000));
}

TEST(EmuLimit, OfAMessageAndItsAnswerIsTwoWays) {
  EXPECT_DOUBLE_EQ(time_of(OverEmu::round_trip, 0, usual, 10), 10 * 2 * (100 + 16 + 1000 + 200));
}

TEST(EmuLimit, OfAFloodIsOneAfterTheOtherAndThenTheWayOfTheLast) {
  EXPECT_DOUBLE_EQ(time_of(OverEmu::transfer_flood, 65536, usual, 1000),
                   1000 * 65536.0 + 100 + 2 * 1000);
  EXPECT_DOUBLE_EQ(time_of(OverEmu::message_flood, 8192, usual, 1000),
                   1000 * 8208.0 + 16 + 2 * (100 + 1000 + 200));
}

TEST(EmuLimit, OfAFloodIsPacedByWhatIsSlowest) {
  const auto pace = [](OverEmu what, const std::string& more) {
    const std::string model = std::string(usual) + "," + more;
    return time_of(what, 8192, model, 2) - time_of(what, 8192, model, 1);
  };
  EXPECT_DOUBLE_EQ(pace(OverEmu::transfer_flood, "gap=10us"), 10'000);
  EXPECT_DOUBLE_EQ(pace(OverEmu::transfer_flood, "rate=50k/s"), 20'000);
  EXPECT_DOUBLE_EQ(pace(OverEmu::transfer_flood, "bisection=500MB/s"), 2 * 8192);
  EXPECT_DOUBLE_EQ(pace(OverEmu::transfer_flood, "registration=30us"), 30'100);
  EXPECT_DOUBLE_EQ(pace(OverEmu::message_flood, "receive_overhead=9us"), 9'000);
}

TEST(EmuLimit, OfTransfersWaitsForRoom) {
  // Four begin one after the other, the fifth when the first is complete.
  const std::string model = "latency=100us,bandwidth=1GB/s,depth=4";
  const auto time = [&](std::uint64_t count) {
    return time_of(OverEmu::transfer_flood, 4096, model, count);
  };
  constexpr double alone = 4096 + 200'000;
  EXPECT_DOUBLE_EQ(time(1), alone);
  EXPECT_DOUBLE_EQ(time(4), alone + 3 * 4096);
  EXPECT_DOUBLE_EQ(time(5), alone + alone);
  EXPECT_DOUBLE_EQ(time(11), 2 * alone + alone + 2 * 4096);
}

TEST(EmuLimit, OfMessagesWaitsForCreditsWhichComeBackByHalves) {
  const std::string model = "latency=100us,bandwidth=1GB/s";
  const auto time = [&](std::uint64_t count) {
    return time_of(OverEmu::message_flood, 8192, model, count);
  };
  constexpr double alone = 8208 + 16 + 200'000;
  EXPECT_DOUBLE_EQ(time(16), alone + 15 * 8208);
  // The eighth has to arrive first.
  EXPECT_DOUBLE_EQ(time(17), alone + alone + 7 * 8208);
  // Room of the second half is back when the first half has been used again.
  EXPECT_DOUBLE_EQ(time(25), time(17) + 8 * 8208);
}

TEST(EmuLimit, OfAnOddNumberOfMessagesHasOneWaitForCompany) {
  // Credits come back by twos: with that of the fifth message, that of the sixth.
  const Row row = row_of(OverEmu::message_flood, 8192);
  const EmuTime time = emu_time(row, "latency=100us,bandwidth=1GB/s", 5);
  EXPECT_EQ(time.under_way, 5u);
  EXPECT_EQ(time.together, 2u);
  EXPECT_DOUBLE_EQ(time.of(6), 2 * time.alone_ns + time.interval_ns);
  EXPECT_DOUBLE_EQ(time.of(10), 3 * time.alone_ns + time.interval_ns);
}

TEST(EmuLimit, IsThereForEachRowOverEmuAndForNoOther) {
  for (const Row& row : rows())
    EXPECT_EQ(emu_time(row, usual_emu_model, 16).of(1) > 0, row.group == Group::emu) << row.name;
}

TEST(EmuLimit, NeedsAModelThatGivesOneTime) {
  EXPECT_EQ(why_no_emu_time(usual_emu_model), "");
  EXPECT_EQ(why_no_emu_time("aries,latency=3us"), "");
  EXPECT_NE(why_no_emu_time("nowhere").find("'nowhere' is not a known network"), std::string::npos);
  for (const char* const model :
       {"", "bandwidth=1GB/s", "aries,jitter=1us", "aries,total=8", "aries,native=0"}) {
    EXPECT_NE(why_no_emu_time(model).find("expected a latency"), std::string::npos) << model;
  }
}

}  // namespace
}  // namespace gexperf
