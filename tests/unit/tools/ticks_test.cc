#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <sys/time.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <ctime>

namespace {

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

TEST(ToolsTicks, NeverRunBackward) {
  gasnett_tick_t last = gasnett_ticks_now();
  for (int i = 0; i < 100000; ++i) {
    const gasnett_tick_t now = gasnett_ticks_now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ToolsTicks, AgreeWithTheClock) {
  gasnett_ticks_to_ns(1);  // calibrated from here on
  // One interval on both clocks. Another process may get the processor between the two
  // readings at either end, so the closest of several tries counts.
  constexpr double tolerance = 0.002;
  double closest = 1;
  for (int attempt = 0; attempt < 20 && closest > tolerance; ++attempt) {
    const std::uint64_t clock_begin = monotonic_ns();
    const gasnett_tick_t tick_begin = gasnett_ticks_now();
    gasnett_nsleep(20000000);
    const std::uint64_t ticked = gasnett_ticks_to_ns(gasnett_ticks_now() - tick_begin);
    const std::uint64_t passed = monotonic_ns() - clock_begin;
    EXPECT_GE(passed, 20000000u);
    const double difference =
        (static_cast<double>(ticked) - static_cast<double>(passed)) / static_cast<double>(passed);
    closest = std::min(closest, std::abs(difference));
  }
  EXPECT_LT(closest, tolerance);
}

TEST(ToolsTicks, ConvertLinearly) {
  const gasnett_tick_t second = 1000000000;
  const std::uint64_t ns = gasnett_ticks_to_ns(second);
  EXPECT_EQ(gasnett_ticks_to_ns(0), 0u);
  EXPECT_NEAR(static_cast<double>(gasnett_ticks_to_ns(1000 * second)), 1000.0 * ns, 1000);
  EXPECT_EQ(gasnett_ticks_to_us(second), ns / 1000);
}

TEST(ToolsTicks, InlineCodeReadsTheLibrarysClock) {
  const gasnett_tick_t before = gex_ticks_now_();
  const gasnett_tick_t inlined = gasnett_ticks_now();
  const gasnett_tick_t after = gex_ticks_now_();
  EXPECT_LE(before, inlined);
  EXPECT_LE(inlined, after);
}

TEST(ToolsTicks, ResolutionIsPlausible) {
  EXPECT_GT(gasnett_tick_granularityus(), 0);
  EXPECT_LT(gasnett_tick_granularityus(), 1000);
  EXPECT_GT(gasnett_tick_overheadus(), 0);
  EXPECT_LT(gasnett_tick_overheadus(), 1000);
}

TEST(ToolsSleep, IsNotShorter) {
  EXPECT_EQ(gasnett_nsleep(0), 0);
  const std::uint64_t begin = monotonic_ns();
  EXPECT_EQ(gasnett_nsleep(3000000), 0);
  EXPECT_GE(monotonic_ns() - begin, 3000000u);
}

TEST(ToolsSleep, ASignalEndsIt) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval soon = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  errno = 0;
  EXPECT_NE(gasnett_nsleep(20000000000u), 0);
  EXPECT_EQ(errno, EINTR);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
}

TEST(ToolsTime, OfDayIsTheSystems) {
  timeval before, after;
  gettimeofday(&before, nullptr);
  const std::uint64_t us = gasnett_gettimeofday_us();
  gettimeofday(&after, nullptr);
  const auto micro = [](const timeval& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000u + static_cast<std::uint64_t>(t.tv_usec);
  };
  EXPECT_LE(micro(before), us);
  EXPECT_LE(us, micro(after));
}

}  // namespace
