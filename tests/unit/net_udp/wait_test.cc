// Ranks that sleep: each polls when a datagram has come, or when it is time for what `may_wait` has
// named, and never otherwise. Nothing of what they are sent may depend on a poll in between.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

constexpr Time never = ~Time{0};

class Sleepers {
 public:
  explicit Sleepers(Ranks& ranks) : ranks_(ranks) {}

  /// All poll until they may sleep, and the clock moves to when the first of them wakes. False:
  /// none would ever.
  bool sleep() {
    Time next = never;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      next = std::min(next, sleeps_until(rank));
    // What those that polled last have sent wakes the others.
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      next = std::min(next, ranks_.network.readable_at(rank));
    if (next == never) return false;
    if (next > ranks_.network.now) ranks_.network.now = next;
    ++sleeps;
    return true;
  }
  /// Until `is_done`; false: nothing would wake any rank, or it takes too long.
  template <class Done>
  bool sleep_until(Done is_done, Time limit = 60'000'000'000) {
    const Time end = ranks_.network.now + limit;
    while (!is_done())
      if (ranks_.network.now > end || !sleep()) return false;
    return true;
  }

  std::uint64_t polls = 0;
  std::uint64_t sleeps = 0;

 private:
  Time sleeps_until(std::uint32_t rank) {
    // Polls in which nothing is received or sent must come to an end.
    constexpr int max = 10'000;
    for (int i = 0; i < max; ++i) {
      ranks_.poll(rank);
      ++polls;
      // The socket is level-triggered: what has come ends the sleep at once.
      if (ranks_.network.readable_at(rank) == ranks_.network.now) continue;
      Time until = never;
      if (!ranks_.endpoints[rank]->may_wait(ranks_.network.now, until)) continue;
      EXPECT_GT(until, Time{ranks_.network.now});
      return until;
    }
    ADD_FAILURE() << "rank " << rank << " never comes to sleep";
    return never;
  }

  Ranks& ranks_;
};

/// Messages from rank 0 to rank 1, each answered, all before the next is sent.
struct RoundTrips {
  explicit RoundTrips(Ranks& ranks) : ranks(ranks) {
    handler = [this](std::uint32_t me, std::uint32_t, Channel channel,
                     std::span<const std::byte> message) {
      if (channel == request_channel)
        EXPECT_EQ(this->ranks.send(me, reply_channel, 0, message_of(me, number_of(message), 64)),
                  sent);
      else
        ++answered;
    };
  }
  void ask() { EXPECT_EQ(ranks.send(0, request_channel, 1, message_of(0, ++asked, 100)), sent); }

  Ranks& ranks;
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
};

TEST(Wait, ARankToWhichNothingIsOwedSleepsUntilADatagramComes) {
  Ranks ranks(2, {});
  RoundTrips trips(ranks);
  Sleepers sleepers(ranks);
  EXPECT_FALSE(sleepers.sleep()) << "no rank waits for anything";
  trips.ask();
  ASSERT_TRUE(sleepers.sleep_until([&] { return trips.answered == 1; }));
  EXPECT_LT(sleepers.sleeps, 6U);
  // And the last acknowledgements end all timers.
  while (sleepers.sleep()) {
  }
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, WhatIsLostIsSentAgainWhileItsSenderSleeps) {
  Ranks ranks(2, {.seed = 3, .loss = 0.2});
  RoundTrips trips(ranks);
  Sleepers sleepers(ranks);
  constexpr std::uint32_t count = 300;
  for (std::uint32_t i = 1; i <= count; ++i) {
    trips.ask();
    ASSERT_TRUE(sleepers.sleep_until([&] { return trips.answered == i; })) << i;
  }
  EXPECT_GT(ranks.endpoints[0]->counts().timeouts, 20U);
  EXPECT_LT(sleepers.polls, 40U * count) << "polls instead of sleeping";
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, ALostDatagramIsSentAgainAsSoonAsByARankThatPolls) {
  const auto time_of = [](bool polls) {
    Ranks ranks(2, {.seed = 5, .loss = 0.1});
    RoundTrips trips(ranks);
    Sleepers sleepers(ranks);
    const Time begin = ranks.network.now;
    for (std::uint32_t i = 1; i <= 200; ++i) {
      trips.ask();
      const auto is_done = [&] { return trips.answered == i; };
      EXPECT_TRUE(polls ? ranks.run_until(is_done) : sleepers.sleep_until(is_done));
    }
    EXPECT_TRUE(ranks.settle());
    return static_cast<double>(ranks.network.now - begin);
  };
  EXPECT_LT(time_of(false), 1.3 * time_of(true));
}

/// Puts of rank 0 into the memory of rank 1, some under way at a time.
void put_asleep(const Faults& faults, std::size_t each, int puts, double bytes_a_ns,
                double factor) {
  Ranks ranks(2, faults);
  handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
  std::vector<std::byte> memory(each), source(each);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(memory.data(), each, key));
  const Remote to{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  Sleepers sleepers(ranks);
  int started = 0;
  int done = 0;
  const Time begin = ranks.network.now;
  ASSERT_TRUE(sleepers.sleep_until([&] {
    while (started < puts && started - done < 4 &&
           ranks.endpoints[0]->put(to, source.data(), each, &done, nullptr, ranks.network.now) ==
               sent)
      ++started;
    return done == puts;
  }));
  const auto taken = static_cast<double>(ranks.network.now - begin);
  EXPECT_LT(taken, factor * static_cast<double>(puts) * static_cast<double>(each) / bytes_a_ns);
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, AWindowThatIsSpreadGoesOnWhileItsSenderSleeps) {
  put_asleep({.delay = 400'000,
              .rate = gigabit,
              .queue = std::size_t{8} << 20,
              .receive_buffer = std::size_t{12} << 20,
              .max_datagram = 1472,
              .joins = true},
             1 << 20, 24, gigabit, 1.4);
}
TEST(Wait, AQueueThatOverflowsIsMendedWhileItsSenderSleeps) {
  put_asleep({.delay = 400'000,
              .rate = gigabit,
              .queue = 40 * 1472,
              .receive_buffer = std::size_t{12} << 20,
              .max_datagram = 1472,
              .joins = true},
             1 << 20, 12, gigabit, 3);
}

TEST(Wait, WhatTheSystemRefusesIsOfferedAgain) {
  Ranks ranks(2, {});
  RoundTrips trips(ranks);
  Sleepers sleepers(ranks);
  int refusals = 20;
  ranks.network.takes = [&](std::size_t count) {
    return refusals != 0 && refusals-- != 0 ? std::size_t{0} : count;
  };
  trips.ask();
  ASSERT_TRUE(sleepers.sleep_until([&] { return trips.answered == 1; }, 10'000'000));
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, RequestsThatAReceiverRefusesAreOfferedAgain) {
  // The receiver delivers replies only for a while: its share of buffers for requests fills.
  Ranks ranks(2, {}, {.depth = 64, .receive_memory = std::size_t{1} << 20});
  std::uint32_t taken = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) { ++taken; };
  std::uint32_t asked = 0;
  for (int i = 0; i < 2000; ++i) {
    while (asked < 64 && ranks.send(0, request_channel, 1, message_of(0, asked, 4000)) == sent)
      ++asked;
    ranks.poll(0);
    ranks.poll(1, 1U << reply_channel);
    ranks.network.now += 1000;
  }
  ASSERT_EQ(asked, 64U);
  Sleepers sleepers(ranks);
  ASSERT_TRUE(sleepers.sleep_until([&] { return taken == asked; }));
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, ATimeAsleepIsNoAbsence) {
  // Over a real network, delay shrinks the window unless the receiver was away.
  Ranks ranks(2, {.delay = 50'000, .rate = gigabit, .queue = std::size_t{8} << 20});
  RoundTrips trips(ranks);
  Sleepers sleepers(ranks);
  for (std::uint32_t i = 1; i <= 20; ++i) {
    ranks.network.now += 20'000'000;
    while (sleepers.sleep()) {
    }
    trips.ask();
    ASSERT_TRUE(sleepers.sleep_until([&] { return trips.answered == i; }));
  }
  ASSERT_TRUE(ranks.settle());
}

TEST(Wait, AMessageThatIsNotDeliveredYetKeepsItsRankAwake) {
  Ranks ranks(2, {});
  RoundTrips trips(ranks);
  trips.ask();
  ranks.network.now += 1'000'000;
  ranks.poll(1, 1U << reply_channel);
  Time until = never;
  EXPECT_FALSE(ranks.endpoints[1]->may_wait(ranks.network.now, until));
  ranks.poll(1);
  ranks.poll(1);
  EXPECT_TRUE(ranks.endpoints[1]->may_wait(ranks.network.now, until));
  ASSERT_TRUE(ranks.settle());
}

}  // namespace
}  // namespace gex::net::udp::test
