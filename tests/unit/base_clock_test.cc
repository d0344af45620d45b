// Both clocks run forward, at the same speed.

#include "base/clock.h"

#include <gtest/gtest.h>

#include <time.h>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace gex {
namespace {

TEST(NowNs, IsTheMonotonicClockInNanoseconds) {
  timespec before, after;
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  const std::uint64_t now = now_ns();
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  const auto ns = [](const timespec& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(t.tv_nsec);
  };
  EXPECT_LE(ns(before), now);
  EXPECT_LE(now, ns(after));
}

TEST(Ticks, NeverRunBackwardsInAThread) {
  Tick last = ticks();
  for (int i = 0; i < 100000; ++i) {
    const Tick now = ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

// The intervals enclose one another, so that a loss of the core between two readings widens the
// outer one only; the tolerance is for the calibration.
TEST(Ticks, ConvertToTheMonotonicClocksNanoseconds) {
  ticks_to_ns(0);
  const std::uint64_t outer_begin = now_ns();
  const Tick begin = ticks();
  const std::uint64_t inner_begin = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::uint64_t inner_end = now_ns();
  const Tick end = ticks();
  const std::uint64_t outer_end = now_ns();
  const auto measured = static_cast<double>(ticks_to_ns(end - begin));
  EXPECT_GE(measured, static_cast<double>(inner_end - inner_begin) * 0.9995);
  EXPECT_LE(measured, static_cast<double>(outer_end - outer_begin) * 1.0005);
}

TEST(Ticks, ConversionsAreInverse) {
  EXPECT_EQ(ticks_to_ns(0), 0u);
  EXPECT_EQ(ns_to_ticks(0), 0u);
  for (const std::uint64_t ns : {std::uint64_t{1000}, std::uint64_t{1'000'000'000}}) {
    EXPECT_NEAR(static_cast<double>(ticks_to_ns(ns_to_ticks(ns))), static_cast<double>(ns), 1.0);
  }
}

TEST(Ticks, TheSourceIsNamed) {
  const std::string source = tick_source();
  EXPECT_TRUE(source == "tsc" || source == "clock_gettime") << source;
}

}  // namespace
}  // namespace gex
