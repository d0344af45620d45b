// A window is spread over a round trip, and nothing waits for good.

#include "net/udp/pacing.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace gex::net::udp {
namespace {

constexpr std::size_t datagram = 2048;
constexpr std::size_t window = 128 * datagram;
constexpr Time round_trip = 1'000'000;
constexpr Time between_polls = 1'000;

/// The bytes that leave in one poll.
std::size_t send_some(Pacing& pacing, std::size_t& in_flight, Time absent, Time now) {
  std::size_t left = 0;
  for (pacing.update(window, round_trip, absent, now);
       in_flight + datagram <= window && pacing.may_send(in_flight + datagram); left += datagram) {
    pacing.sent(datagram);
    in_flight += datagram;
  }
  return left;
}

TEST(Pacing, AWindowLeavesInStepsWithinARoundTripAndNoFaster) {
  Pacing pacing(datagram);
  std::size_t in_flight = 0;
  std::size_t all = 0;
  int steps = 0;
  const Time begin = 1'000'000'000;
  Time now = begin;
  for (; in_flight < window; now += between_polls) {
    ASSERT_LT(now - begin, round_trip);
    const std::size_t left = send_some(pacing, in_flight, between_polls, now);
    if (left == 0) continue;
    ++steps;
    all += left;
    EXPECT_LE(left, window / 4) << "a step from a pause, and one that needs no leave";
    const double bound = 1.5 * static_cast<double>(now - begin) / round_trip * window + window / 4.;
    EXPECT_LE(static_cast<double>(all), bound);
  }
  EXPECT_GE(steps, 6);
  EXPECT_GT(now - begin, round_trip / 3);
}

TEST(Pacing, AProcessThatPollsSeldomSendsAtOnceWhatItCouldHaveSent) {
  Pacing pacing(datagram);
  std::size_t in_flight = 0;
  EXPECT_EQ(send_some(pacing, in_flight, 2 * round_trip, 1'000'000'000), window);
}

TEST(Pacing, NothingWaitsWhileNoMoreThanAStepIsInFlight) {
  Pacing pacing(datagram);
  Time now = 1'000'000'000;
  std::size_t in_flight = 0;
  while (send_some(pacing, in_flight, 0, now) != 0) {
  }
  // All of it is acknowledged, and no time has passed.
  for (int i = 0; i < 1000; ++i) {
    pacing.update(window, round_trip, 0, now);
    EXPECT_TRUE(pacing.may_send(4 * datagram));
    pacing.sent(datagram);
  }
  // What was sent so does not hold the next window up for long.
  bool may_send = false;
  for (const Time end = now + round_trip / 4; now < end; now += between_polls) {
    pacing.update(window, round_trip, between_polls, now);
    may_send |= pacing.may_send(window);
  }
  EXPECT_TRUE(may_send);
}

TEST(Pacing, ShortRoundTripsAndWaysWithoutAQueueAreNotLimited) {
  Pacing pacing(datagram);
  Pacing of_the_loopback;
  pacing.update(window, Pacing::shortest - 1, 0, 1'000'000'000);
  of_the_loopback.update(window, round_trip, 0, 1'000'000'000);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(pacing.may_send(window));
    EXPECT_TRUE(of_the_loopback.may_send(window));
    pacing.sent(datagram);
    of_the_loopback.sent(datagram);
  }
}

}  // namespace
}  // namespace gex::net::udp
