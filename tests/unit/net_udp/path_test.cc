// How large datagrams may be is found out, at the start and whenever the way changes, and what was
// made for a wider way arrives over a narrower one.

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "made_datagram.h"

namespace gex::net::udp::test {
namespace {

constexpr Time second = 1'000'000'000;

/// Two ranks whose interfaces take packets of 1500 bytes (or more), and what rank 0 does to rank 1.
class Way {
 public:
  explicit Way(std::size_t max = 1472, double loss = 0)
      : ranks(2, {.seed = 5,
                  .loss = loss,
                  .delay = 50'000,
                  .receive_buffer = std::size_t{8} << 20,
                  .max_datagram = max,
                  .joins = true,
                  .searches = true}),
        memory(1 << 20),
        source(1 << 20),
        target(1 << 20) {
    handler = [this](std::uint32_t me, std::uint32_t from, Channel channel,
                     std::span<const std::byte> message) {
      ++arrived;
      if (channel == request_channel) {
        EXPECT_EQ(ranks.send(me, reply_channel, from, message_of(me, number_of(message), 3000)),
                  sent);
      }
    };
    for (std::size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<std::byte>(i * 7 + i / 999);
    EXPECT_TRUE(ranks.segments[1]->add(memory.data(), memory.size(), key));
  }

  /// A put, a get, and messages of all sizes; all of them arrive, within `limit`.
  void talk(Time limit = 20 * second, std::size_t bytes = 1 << 20) {
    const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
    int puts = 0, gets = 0;
    std::fill(memory.begin(), memory.end(), std::byte{0});
    std::fill(target.begin(), target.end(), std::byte{0});
    const int before = arrived;
    begin = ranks.network.now;
    ASSERT_EQ(ranks.endpoints[0]->put(remote, source.data(), bytes, &puts, nullptr, begin), sent);
    for (const std::size_t size : {10, 1000, 1400, 4000, 16640})
      ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 1, size)), sent);
    ASSERT_TRUE(ranks.run_until([&] { return puts == 1 && arrived == before + 10; }, limit))
        << puts << " puts, " << arrived - before << " messages";
    ASSERT_EQ(ranks.endpoints[0]->get(remote, target.data(), bytes, &gets, ranks.network.now),
              sent);
    ASSERT_TRUE(ranks.run_until([&] { return gets == 1; }, limit));
    ASSERT_EQ(std::memcmp(target.data(), source.data(), bytes), 0);
    ASSERT_TRUE(ranks.settle());
  }
  std::uint32_t size(std::uint32_t from = 0) const {
    return ranks.endpoints[from]->path_to(1 - from).size();
  }
  /// Some small messages each 100 ms, for so long.
  void idle(Time time) {
    for (const Time end = ranks.network.now + time; ranks.network.now < end;) {
      ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 1, 20)), sent);
      for (int i = 0; i < 20; ++i) ranks.step(5'000'000);
    }
    ASSERT_TRUE(ranks.settle());
  }

  Ranks ranks;
  std::vector<std::byte> memory, source, target;
  SegmentKey key{};
  int arrived = 0;
  Time begin = 0;
};

class OnAWay : public testing::Test, protected Way {
 protected:
  using Way::Way;
  OnAWay() = default;
};

TEST_F(OnAWay, AsWideAsTheInterfaceTheInterfacesSizeIsUsedAfterARoundTrip) {
  talk();
  EXPECT_EQ(size(0), 1472U);
  EXPECT_EQ(size(1), 1472U);
  EXPECT_EQ(ranks.endpoints[0]->path_to(1).rounds(), 1U);
  EXPECT_EQ(ranks.endpoints[0]->path_to(1).narrowed(), 0U);
  const std::uint64_t carried = ranks.network.carried();
  idle(10 * second);
  talk();
  EXPECT_EQ(ranks.endpoints[0]->path_to(1).rounds(), 1U) << "nothing is tried that is known";
  EXPECT_GT(ranks.network.carried(), carried);
}

TEST_F(OnAWay, ThatIsNarrowFromTheStartItsSizeIsFound) {
  for (const std::size_t path : {1392U, 1252U, 1424U, 1300U, 900U, 548U}) {
    Way other;
    other.ranks.network.path = path;
    other.talk();
    other.idle(second);
    EXPECT_LE(other.size(), path);
    EXPECT_GT(other.size() + PathSearch::close_enough, path - 1);
    const std::uint64_t again = other.ranks.endpoints[0]->counts().sent_again;
    other.talk();
    EXPECT_LT(other.ranks.endpoints[0]->counts().sent_again - again, 20U) << path;
  }
}

TEST_F(OnAWay, ThatNarrowsWhileBytesAreUnderWayAllArriveSoon) {
  for (const std::size_t path : {1392U, 1252U, 700U}) {
    Way other;
    other.talk();
    ASSERT_EQ(other.size(), 1472U);
    // While a put is under way and messages are queued.
    const Remote remote{1, &other.key, reinterpret_cast<std::uint64_t>(other.memory.data())};
    int puts = 0;
    ASSERT_EQ(other.ranks.endpoints[0]->put(remote, other.source.data(), 1 << 20, &puts, nullptr,
                                            other.ranks.network.now),
              sent);
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(other.ranks.send(0, request_channel, 1, message_of(0, 1, 16640)), sent);
    for (int i = 0; i < 60; ++i) other.ranks.step();
    ASSERT_EQ(puts, 0);
    other.ranks.network.path = path;
    const Time begin = other.ranks.network.now;
    ASSERT_TRUE(other.ranks.run_until([&] { return puts == 1; }));
    EXPECT_LT(other.ranks.network.now - begin, second) << path;
    ASSERT_TRUE(other.ranks.settle());
    other.talk();
    other.idle(second);
    EXPECT_LE(other.size(), path);
    EXPECT_GT(other.size() + PathSearch::close_enough, path - 1);
    EXPECT_GE(other.ranks.endpoints[0]->path_to(1).narrowed(), 1U);
  }
}

TEST_F(OnAWay, ThatWidensAgainTheLargerSizeIsUsedAgain) {
  ranks.network.path = 1252;
  talk();
  idle(second);
  EXPECT_EQ(size(), 1252U);
  ranks.network.path = 1400;
  idle(2 * PathSearch::shortest_pause);
  EXPECT_GT(size(), 1390U);
  ranks.network.path = SIZE_MAX;
  idle(6 * PathSearch::shortest_pause);
  EXPECT_EQ(size(), 1472U);
  talk();
}

TEST_F(OnAWay, APeerThatComputesDoesNotMakePacketsSmaller) {
  talk();
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  int puts = 0;
  ASSERT_EQ(
      ranks.endpoints[0]->put(remote, source.data(), 1 << 20, &puts, nullptr, ranks.network.now),
      sent);
  const std::uint64_t rounds = ranks.endpoints[0]->path_to(1).rounds();
  for (const Time end = ranks.network.now + 20 * second; ranks.network.now < end;) {
    ranks.poll(0);
    ranks.network.now += 500'000;
  }
  EXPECT_EQ(size(), 1472U);
  EXPECT_LT(ranks.endpoints[0]->path_to(1).rounds() - rounds, 30U) << "it is asked seldom";
  ASSERT_TRUE(ranks.run_until([&] { return puts == 1; }));
  ASSERT_TRUE(ranks.settle());
  EXPECT_EQ(size(), 1472U);
  EXPECT_EQ(ranks.endpoints[0]->path_to(1).narrowed(), 0U);
}

/// A search whose probes wait at a peer until it takes them.
class ASearch : public testing::Test {
 protected:
  struct Probe {
    std::uint32_t round, index;
  };
  void act() {
    search.act(
        now, round_trip, true, [] { return std::uint32_t{0}; },
        [&](std::uint32_t round, std::uint32_t index, std::uint32_t) {
          ++(index == PathSearch::small ? small : large);
          if (index == PathSearch::small || large != lost) waiting.push_back({round, index});
        });
  }
  /// Sends all that is due until then.
  void go_on(Time until) {
    for (; search.next_at() <= until; act()) now = std::max(now, search.next_at());
    now = until;
  }
  /// The peer takes up to so many probes, and answers them.
  void take(std::size_t count) {
    for (; count != 0 && !waiting.empty(); --count) {
      search.answered(waiting.front().round, waiting.front().index, now);
      waiting.pop_front();
    }
  }

  PathSearch search{{.least = 548, .start = 1232, .max = 8972, .headers = 28}};
  std::deque<Probe> waiting;
  Time round_trip = 50'000'000;
  int large = 0, small = 0;
  int lost = 0;  ///< the number of the large one that is lost, from 1
  Time now = 1;
};

TEST_F(ASearch, SendsAPeerThatDoesNotPollOneLargeDatagramUntilItAnswers) {
  search.begin(now);
  go_on(20 * second);
  EXPECT_EQ(large, 1);
  EXPECT_GT(small, 5);
  waiting = {waiting.back()};
  take(1);
  go_on(now);
  EXPECT_EQ(large, 2) << "it polls: now the size is tried";
  take(2);
  EXPECT_EQ(search.size(), 8972U);
}

TEST_F(ASearch, LateAnswersToSmallOnesDoNotMakeItRejectASize) {
  lost = 1;
  search.begin(now);
  go_on(20 * second);
  for (const Time end = now + 5 * second; now < end && search.size() != 8972;) {
    take(1);
    go_on(now + 100'000'000);
  }
  EXPECT_EQ(search.size(), 8972U);
  EXPECT_EQ(search.narrowed(), 0U);
}

TEST_F(ASearch, DoesNotFillAPeerThatTakesLittle) {
  search.begin(now);
  std::size_t longest = 0;
  for (const Time end = now + 100 * second; now < end;) {
    go_on(now + second);
    longest = std::max(longest, waiting.size());
    take(1);
  }
  EXPECT_LT(longest, 20U);
  EXPECT_LT(large, 10);
}

TEST_F(OnAWay, WhatAPeerThatComputesDoesNotAnswerIsRepeatedEverMoreSeldom) {
  talk();
  ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 1, 20)), sent);
  const std::uint64_t carried = ranks.network.carried();
  for (const Time end = ranks.network.now + 20 * second; ranks.network.now < end;) {
    ranks.poll(0);
    ranks.network.now += 500'000;
  }
  EXPECT_LT(ranks.network.carried() - carried, 60U);
  ASSERT_TRUE(ranks.settle());
}

class OnALossyWay : public OnAWay {
 protected:
  OnALossyWay() : OnAWay(1472, 0.05) {}
};
TEST_F(OnALossyWay, RandomLossesDoNotMakePacketsSmallerForLong) {
  talk();
  talk();
  idle(3 * PathSearch::shortest_pause);
  EXPECT_EQ(size(), 1472U);
  ranks.network.path = 1300;
  talk();
  idle(second);
  EXPECT_LE(size(), 1300U);
  EXPECT_GT(size(), 1240U);
}

class BetweenJumboInterfaces : public OnAWay {
 protected:
  BetweenJumboInterfaces() : OnAWay(8972) {}
};
TEST_F(BetweenJumboInterfaces, ASwitchForSmallPacketsIsFound) {
  ranks.network.path = 1472;
  talk();
  idle(second);
  EXPECT_EQ(size(), 1472U);
  talk();
  ranks.network.path = SIZE_MAX;
  idle(4 * PathSearch::shortest_pause);
  EXPECT_EQ(size(), 8972U);
  talk();
  ranks.network.path = 4000;
  talk();
  idle(second);
  EXPECT_LE(size(), 4000U);
  EXPECT_GT(size(), 3990U);
}

TEST(AFragmentForWhichThereIsNoRoom, IsReportedToItsSenderByAnAcknowledgement) {
  Ranks ranks(2, {});
  // Each is the first of a datagram of its own.
  MadeRecords records;
  records.add(RecordKind::fragment, FragmentDetails{2 * fragment_unit, 0, {}},
              std::vector<std::byte>(fragment_unit));
  EndpointCounts counts;
  for (std::uint32_t sequence = 0; counts.refused == 0 && sequence < 100; ++sequence) {
    EXPECT_EQ(counts.sent, 0U);
    arrive(ranks, records, sequence);
    counts = ranks.endpoints[1]->counts();
  }
  EXPECT_EQ(counts.refused, 1U);
  EXPECT_EQ(counts.sent, 1U);
}

}  // namespace
}  // namespace gex::net::udp::test
