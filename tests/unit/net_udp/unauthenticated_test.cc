// A process without the key that sees all that ranks send each other, and sends parts of it again
// to any rank: nothing of it is delivered, ends a rank, or moves a peer, and all of it is counted.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

using Bytes = std::vector<std::byte>;
using Recorded = SimulatedNetwork::Recorded;

constexpr std::uint32_t count = 3;

Address outsider() {
  return Address::parse("127.0.0.9", 4711);
}

/// Ranks that exchange messages, puts and gets, each with each, and check all that they get.
class Traffic3 {
 public:
  static constexpr std::uint32_t rounds = 40;
  static constexpr std::size_t bytes = 5000;

  explicit Traffic3(Ranks& ranks) : ranks_(ranks) {
    handler = [this](std::uint32_t me, std::uint32_t source, Channel channel,
                     std::span<const std::byte> message) {
      const std::uint32_t number = number_of(message);
      ASSERT_LT(number, rounds);
      const bool is_request = channel == request_channel;
      ++(is_request ? asked_ : answered_)[me][source][number];
      if (!is_request) return;
      ASSERT_EQ(ranks_.send(me, reply_channel, source, message_of(me, number, 40)), sent);
    };
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      // For each peer a place for its puts, and one that it gets from.
      memory_[rank].resize(2 * count * bytes);
      for (std::uint32_t peer = 0; peer < count; ++peer)
        std::fill_n(readable(rank, peer), bytes, std::byte(0x10 * rank + peer + 1));
      EXPECT_TRUE(
          ranks_.segments[rank]->add(memory_[rank].data(), memory_[rank].size(), keys_[rank]));
    }
  }

  /// One exchange of each with each; `meanwhile` is called in each step.
  bool round(std::uint32_t number, const std::function<void()>& meanwhile) {
    int puts = 0, gets = 0;
    std::array<std::array<Bytes, count>, count> source, target;
    for (std::uint32_t from = 0; from < count; ++from) {
      for (std::uint32_t to = 0; to < count; ++to) {
        if (from == to) continue;
        // Small ones travel with others, large ones by themselves.
        const std::size_t size = number % 2 == 0 ? 200 : bytes;
        source[from][to].assign(size, std::byte(number + 1));
        target[from][to].resize(size);
        EXPECT_EQ(ranks_.send(from, request_channel, to, message_of(from, number, 40)), sent);
        const Remote put{to, &keys_[to], address_of(memory_[to].data() + from * bytes)};
        EXPECT_EQ(ranks_.endpoints[from]->put(put, source[from][to].data(), size, &puts, nullptr,
                                              ranks_.network.now),
                  sent);
        const Remote get{to, &keys_[to], address_of(readable(to, from))};
        EXPECT_EQ(ranks_.endpoints[from]->get(get, target[from][to].data(), size, &gets,
                                              ranks_.network.now),
                  sent);
      }
    }
    constexpr int pairs = count * (count - 1);
    const bool done = ranks_.run_until([&] {
      meanwhile();
      return puts == pairs && gets == pairs && answers(number) == pairs;
    });
    for (std::uint32_t from = 0; from < count; ++from) {
      for (std::uint32_t to = 0; to < count; ++to) {
        if (from == to) continue;
        const std::size_t size = source[from][to].size();
        EXPECT_EQ(target[from][to], Bytes(size, std::byte(0x10 * to + from + 1)));
        EXPECT_EQ(std::memcmp(memory_[to].data() + from * bytes, source[from][to].data(), size), 0);
      }
    }
    return done;
  }

  /// Everything has been handled once, by the rank that it was for.
  void check(std::uint32_t rounds_done) const {
    for (std::uint32_t me = 0; me < count; ++me) {
      for (std::uint32_t source = 0; source < count; ++source) {
        for (std::uint32_t number = 0; number < rounds; ++number) {
          const int expected = me != source && number < rounds_done ? 1 : 0;
          ASSERT_EQ(asked_[me][source][number], expected);
          ASSERT_EQ(answered_[me][source][number], expected);
        }
      }
    }
  }

 private:
  static std::uint64_t address_of(std::byte* at) { return reinterpret_cast<std::uint64_t>(at); }
  std::byte* readable(std::uint32_t rank, std::uint32_t by) {
    return memory_[rank].data() + (count + by) * bytes;
  }
  int answers(std::uint32_t number) const {
    int all = 0;
    for (const auto& of_rank : answered_)
      for (const auto& of_source : of_rank) all += of_source[number];
    return all;
  }

  Ranks& ranks_;
  std::array<Bytes, count> memory_;
  std::array<SegmentKey, count> keys_{};
  using Counts = std::array<std::array<std::array<int, rounds>, count>, count>;
  Counts asked_{};
  Counts answered_{};
};

using Send = std::function<void(std::uint32_t, Bytes)>;
/// A datagram that an outsider makes of those that it sees: to which rank, which bytes. `covered`:
/// bytes of a datagram that are authenticated whatever it carries.
using Forger = void (*)(const std::deque<Recorded>& seen, std::size_t covered, const Send& send);

std::uint32_t receiver(const Recorded& one) {
  return SimulatedNetwork::rank_at(one.to);
}
std::uint32_t sender(const Recorded& one) {
  return SimulatedNetwork::rank_at(one.from.port());
}

struct Kind {
  const char* label;
  Forger forge;
  bool copies = false;  ///< counted as such, not as of another connection
};

void redirect(const std::deque<Recorded>& seen, std::size_t /*covered*/, const Send& send) {
  const Recorded& last = seen.back();
  send(count - receiver(last) - sender(last), last.bytes);
}
void reflect(const std::deque<Recorded>& seen, std::size_t /*covered*/, const Send& send) {
  send(sender(seen.back()), seen.back().bytes);
  // As if it came from the one to which it goes.
  Bytes changed = seen.back().bytes;
  Header header;
  std::memcpy(&header, changed.data(), sizeof header);
  header.source = receiver(seen.back());
  std::memcpy(changed.data(), &header, sizeof header);
  send(sender(seen.back()), changed);
}
void replay(const std::deque<Recorded>& seen, std::size_t /*covered*/, const Send& send) {
  for (const std::size_t back : {std::size_t{1}, seen.size() / 2 + 1, seen.size()}) {
    const Recorded& one = seen[seen.size() - back];
    send(receiver(one), one.bytes);
  }
}
void splice(const std::deque<Recorded>& seen, std::size_t covered, const Send& send) {
  const Recorded& last = seen.back();
  for (const Recorded& other : seen) {
    if (receiver(other) != receiver(last) || other.bytes == last.bytes) continue;
    for (const std::size_t at : {8UL, 12UL, 16UL, sizeof(Header), std::size_t{64}}) {
      if (at >= covered || at > last.bytes.size() || at > other.bytes.size()) continue;
      Bytes bytes(last.bytes.begin(), last.bytes.begin() + static_cast<std::ptrdiff_t>(at));
      bytes.insert(bytes.end(), other.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   other.bytes.end());
      if (bytes != last.bytes && bytes != other.bytes) send(receiver(last), bytes);
    }
  }
}
void change(const std::deque<Recorded>& seen, std::size_t covered, const Send& send) {
  static std::size_t turn = 0;
  const Recorded& last = seen.back();
  for (int i = 0; i < 3; ++i) {
    Bytes bytes = last.bytes;
    // Each byte of the header in turn, and some behind it.
    ++turn;
    bytes[turn * 7 % std::min(bytes.size(), covered)] ^= std::byte(1U << turn % 8);
    send(receiver(last), bytes);
  }
}
void truncate(const std::deque<Recorded>& seen, std::size_t /*covered*/, const Send& send) {
  const Recorded& last = seen.back();
  for (const std::size_t left : {last.bytes.size() - 1, last.bytes.size() - 8, sizeof(Header),
                                 sizeof(Header) - 1, std::size_t{1}}) {
    if (left >= last.bytes.size()) continue;
    Bytes bytes(last.bytes.begin(), last.bytes.begin() + static_cast<std::ptrdiff_t>(left));
    send(receiver(last), bytes);
    if (left < sizeof(Header)) continue;
    // With a size that fits.
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.size = static_cast<std::uint16_t>(left);
    std::memcpy(bytes.data(), &header, sizeof header);
    send(receiver(last), bytes);
  }
}

class Outsiders : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Outsiders,
                         testing::Values(Kind{"redirect", redirect}, Kind{"reflect", reflect},
                                         Kind{"replay", replay, true}, Kind{"splice", splice},
                                         Kind{"change", change}, Kind{"truncate", truncate}),
                         [](const auto& kind) { return kind.param.label; });

TEST_P(Outsiders, BetweenAllRanksAreRefusedAndCounted) {
  for (const bool covers_bulk : {true, false}) {
    for (const bool at_once : {false, true}) {
      Ranks ranks(count, {.max_datagram = 1472}, {.covers_bulk = covers_bulk});
      Traffic3 traffic(ranks);
      ranks.network.records = true;
      std::deque<Recorded> seen;
      std::array<std::uint64_t, count> forged{};
      const auto forge = [&] {
        for (Recorded& one : std::exchange(ranks.network.recorded, {})) {
          seen.push_back(std::move(one));
          if (seen.size() > 8) seen.pop_front();
          const std::size_t covered = covers_bulk ? 100 : front_size;
          GetParam().forge(seen, covered, [&](std::uint32_t to, Bytes bytes) {
            ++forged[to];
            ranks.network.inject(to, std::move(bytes), outsider(), at_once);
          });
        }
      };
      for (std::uint32_t number = 0; number < Traffic3::rounds; ++number)
        ASSERT_TRUE(traffic.round(number, forge)) << number;
      ranks.network.records = false;
      ASSERT_TRUE(ranks.settle());
      traffic.check(Traffic3::rounds);
      for (std::uint32_t rank = 0; rank < count; ++rank) {
        const EndpointCounts counts = ranks.endpoints[rank]->counts();
        EXPECT_GT(forged[rank], 100U);
        EXPECT_GE(GetParam().copies ? counts.duplicates : counts.unauthenticated, forged[rank]);
        EXPECT_EQ(GetParam().copies ? counts.unauthenticated : 0, 0U);
        EXPECT_EQ(counts.malformed, 0U);
        EXPECT_EQ(counts.moved, 0U);
      }
    }
  }
}

TEST(OtherSessions, WhatWasSentInOneIsRefusedInAnother) {
  // Ranks with an equal key, started again; all of the first session is sent into the
  // second before and while its ranks send the same.
  std::vector<Recorded> recorded;
  for (const std::uint32_t session : {0x1000U, 0x2000U}) {
    Ranks ranks(count, {.max_datagram = 1472}, {}, session);
    Traffic3 traffic(ranks);
    ranks.network.records = recorded.empty();
    for (std::uint32_t number = 0; number < 10; ++number) {
      for (const Recorded& one : recorded) ranks.network.inject(receiver(one), one.bytes, one.from);
      ASSERT_TRUE(traffic.round(number, [] {}));
    }
    ASSERT_TRUE(ranks.settle());
    traffic.check(10);
    for (const auto& endpoint : ranks.endpoints) {
      EXPECT_EQ(endpoint->counts().unauthenticated > 100, session != 0x1000);
      EXPECT_EQ(endpoint->counts().malformed, 0U);
    }
    recorded = std::move(ranks.network.recorded);
  }
}

TEST(Bulk, WithoutAuthenticationIsOnlyWhatTheHeaderModeLeavesOut) {
  // Data of a large put may be changed on their way then, but not the record that reports where
  // they belong, and nothing of what has no datagram for itself.
  Ranks ranks(2, {.max_datagram = 1472}, {.covers_bulk = false});
  handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
  Bytes memory(20'000), source(20'000, std::byte{1});
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(memory.data(), memory.size(), key));
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  for (const std::size_t size : {std::size_t{1000}, source.size()}) {
    for (std::size_t at = 0; at < std::min<std::size_t>(1472, front_size + size); at += 7) {
      const std::uint64_t refused = ranks.endpoints[1]->counts().unauthenticated;
      std::fill(memory.begin(), memory.end(), std::byte{0});
      int done = 0;
      ranks.network.records = true;
      ranks.network.cut_off(1, true);
      ASSERT_EQ(
          ranks.endpoints[0]->put(remote, source.data(), size, &done, nullptr, ranks.network.now),
          sent);
      ranks.poll(0);
      ranks.network.records = false;
      ranks.network.cut_off(1, false);
      ASSERT_FALSE(ranks.network.recorded.empty());
      Bytes changed = std::exchange(ranks.network.recorded, {}).at(0).bytes;
      changed[at] ^= std::byte{8};
      ranks.network.inject(1, changed, SimulatedNetwork::address_of(0));
      ASSERT_TRUE(ranks.run_until([&] { return done == 1; }));
      const bool may_pass = size > 4096 && at >= front_size;
      EXPECT_EQ(ranks.endpoints[1]->counts().unauthenticated == refused, may_pass) << at;
      for (std::size_t i = size; i < memory.size(); ++i) ASSERT_EQ(memory[i], std::byte{0});
    }
    ASSERT_TRUE(ranks.settle());
  }
}

TEST(Peers, AreNotFollowedToWhereCopiesComeFrom) {
  Ranks ranks(2, {.seed = 3});
  int arrived = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) { ++arrived; };
  ranks.network.records = true;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, i, 40)), sent);
    // A copy of each arrives first, from elsewhere.
    for (const Recorded& one : std::exchange(ranks.network.recorded, {}))
      if (one.to == 1001) ranks.network.inject(1, one.bytes, outsider(), true);
    ASSERT_TRUE(ranks.settle());
  }
  EXPECT_EQ(arrived, 100);
  EXPECT_EQ(ranks.endpoints[1]->counts().moved, 0U);
  EXPECT_GE(ranks.endpoints[1]->counts().duplicates, 100U);
}

TEST(Numbers, AreTakenOnceAroundTheNewest) {
  Freshness freshness;
  EXPECT_FALSE(freshness.accept(0));
  EXPECT_EQ(freshness.whole(1), 1U);
  for (const std::uint64_t number : {1ULL, 5ULL, 2ULL, 64ULL, 63ULL, 3000ULL, 2999ULL}) {
    EXPECT_TRUE(freshness.accept(number)) << number;
    EXPECT_FALSE(freshness.accept(number)) << number;
  }
  EXPECT_FALSE(freshness.accept(3)) << "too old to decide";
  EXPECT_TRUE(freshness.accept(3000 - Freshness::window + 1));
  EXPECT_FALSE(freshness.accept(3000 - Freshness::window));
  // The lower half wraps.
  constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
  EXPECT_TRUE(freshness.accept(wrap - 2));
  EXPECT_EQ(freshness.whole(3), wrap + 3);
  EXPECT_TRUE(freshness.accept(wrap + 3));
  EXPECT_EQ(freshness.whole(0xffffffff), wrap - 1);
  EXPECT_TRUE(freshness.accept(wrap - 1));
  EXPECT_FALSE(freshness.accept(wrap - 2));
  // Against a list, in random order.
  Random random(5);
  std::vector<std::uint64_t> all(5000);
  std::iota(all.begin(), all.end(), 5 * wrap);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::swap(all[i], all[i / 500 * 500 + random.below(500)]);
  EXPECT_TRUE(freshness.accept(5 * wrap - 1));
  for (const std::uint64_t number : all) ASSERT_TRUE(freshness.accept(number));
  for (const std::uint64_t number : all) ASSERT_FALSE(freshness.accept(number));
}

}  // namespace
}  // namespace gex::net::udp::test
