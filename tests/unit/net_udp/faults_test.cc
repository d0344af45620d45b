// Everything arrives once and whole over a network that loses, repeats, reorders, changes and
// delays datagrams.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

struct Bad {
  const char* label;
  Faults faults;
};

class OverABadNetwork : public testing::TestWithParam<Bad> {};

INSTANTIATE_TEST_SUITE_P(
    Networks, OverABadNetwork,
    testing::Values(Bad{"perfect", {.seed = 1}},
                    Bad{"joined", {.seed = 1, .max_datagram = 1472, .joins = true}},
                    Bad{"odd_mtu", {.seed = 1, .max_datagram = 1405, .joins = true}},
                    Bad{"loss_5", {.seed = 2, .loss = 0.05}},
                    Bad{"loss_20", {.seed = 3, .loss = 0.2, .max_datagram = 1472}},
                    Bad{"duplication", {.seed = 4, .duplication = 0.3, .max_datagram = 1472}},
                    Bad{"reordering",
                        {.seed = 5, .reordering = 0.5, .max_datagram = 1472, .joins = true}},
                    Bad{"corruption", {.seed = 6, .corruption = 0.1, .max_datagram = 1472}},
                    Bad{"delay", {.seed = 7, .delay = 3'000'000, .max_datagram = 1472}},
                    Bad{"small_buffer", {.seed = 8, .receive_buffer = 65536 + 1536}},
                    Bad{"everything",
                        {.seed = 9,
                         .loss = 0.1,
                         .duplication = 0.1,
                         .reordering = 0.3,
                         .corruption = 0.05,
                         .delay = 100'000,
                         .receive_buffer = 100'000,
                         .max_datagram = 1472,
                         .joins = true}}),
    [](const auto& bad) { return bad.param.label; });

TEST_P(OverABadNetwork, MessagesArriveOnceAndWholeBetweenAllPairs) {
  constexpr std::uint32_t count = 3, per_peer = 200;
  Ranks ranks(count, GetParam().faults);
  std::vector<std::vector<int>> asked(count * count, std::vector<int>(per_peer)), answered = asked;
  std::vector<std::uint32_t> out(count * count), next(count * count);
  std::uint32_t asked_count = 0, answered_count = 0;
  handler = [&](std::uint32_t me, std::uint32_t source, Channel channel,
                std::span<const std::byte> message) {
    const std::uint32_t number = number_of(message);
    ASSERT_LT(number, per_peer);
    if (channel == reply_channel) {
      ++answered[me * count + source][number];
      ++answered_count;
      --out[me * count + source];
      return;
    }
    ++asked[source * count + me][number];
    ++asked_count;
    EXPECT_EQ(ranks.send(me, reply_channel, source, message_of(source, number, message.size())),
              sent);
  };
  Random random(17);
  const std::uint32_t expected = count * (count - 1) * per_peer;
  ASSERT_TRUE(ranks.run_until([&] {
    for (std::uint32_t from = 0; from < count; ++from)
      for (std::uint32_t to = 0; to < count; ++to) {
        const std::uint32_t pair = from * count + to;
        while (from != to && next[pair] < per_peer && out[pair] < 16) {
          const std::size_t size = random.below(4) == 0 ? Ranks::max_message : random.below(600);
          if (ranks.send(from, request_channel, to, message_of(from, next[pair], size)) != sent)
            break;
          ++out[pair];
          ++next[pair];
        }
      }
    return asked_count == expected && answered_count == expected;
  }));
  ASSERT_TRUE(ranks.settle());
  for (std::uint32_t pair = 0; pair < count * count; ++pair) {
    const std::vector<int> once(per_peer, pair % (count + 1) == 0 ? 0 : 1);
    EXPECT_EQ(asked[pair], once);
    EXPECT_EQ(answered[pair], once);
  }
  for (auto& endpoint : ranks.endpoints) EXPECT_EQ(endpoint->counts().malformed, 0U);
}

/// Sends a message whose last `payload` bytes were built in a place for `room`, if there is one.
SendResult send_built(Ranks& ranks, const std::vector<std::byte>& message, std::size_t payload,
                      std::size_t room) {
  Endpoint& endpoint = *ranks.endpoints[0];
  void* const place = endpoint.buffer(request_channel, 1, room);
  if (place == nullptr) return ranks.send(0, request_channel, 1, message);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 16, 0U);
  const std::size_t beginning = message.size() - payload;
  if (payload != 0) std::memcpy(place, message.data() + beginning, payload);
  const Piece pieces[] = {{message.data(), beginning / 2},
                          {message.data() + beginning / 2, beginning - beginning / 2},
                          {place, payload}};
  const SendResult result = endpoint.send(request_channel, 1, pieces, ranks.network.now);
  if (result != sent) endpoint.release(place);
  return result;
}

TEST_P(OverABadNetwork, MessagesWhosePayloadWasBuiltInPlaceArriveOnceAndWhole) {
  Ranks ranks(2, GetParam().faults);
  std::vector<int> seen(300);
  std::uint32_t count = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte> message) {
    ++seen[number_of(message)];
    ++count;
  };
  std::uint32_t next = 0;
  ASSERT_TRUE(ranks.run_until([&] {
    while (next < seen.size() && next - count < 8) {
      // Beginnings for which there is room before the place, and others; and places not filled.
      const std::size_t beginning = std::array<std::size_t, 5>{16, 112, 64, 50, 200}[next % 5];
      const std::size_t room = 2048 + next % 7 * 2000;
      const std::size_t payload = next % 3 == 0 ? room : next % 11 == 0 ? 0 : room - 3;
      const auto message = message_of(0, next, beginning + payload);
      if (send_built(ranks, message, payload, room) != sent) break;
      ++next;
      // A place that is given back, as any other is used again.
      void* const place = ranks.endpoints[0]->buffer(request_channel, 1, room);
      if (place != nullptr) ranks.endpoints[0]->release(place);
    }
    return count == seen.size();
  }));
  EXPECT_EQ(seen, std::vector<int>(300, 1));
  ASSERT_TRUE(ranks.settle());
}

TEST(Rows, SendsWithoutAPollLeaveButForAFew) {
  EndpointSettings settings;
  settings.depth = 256;
  Ranks ranks(3, {.delay = 0}, settings);
  std::array<std::uint32_t, 3> arrived{};
  handler = [&](std::uint32_t me, std::uint32_t, Channel, std::span<const std::byte>) {
    ++arrived[me];
  };
  std::uint32_t sent_ones = 0;
  const auto send_to = [&](std::uint32_t rank) {
    EXPECT_EQ(ranks.send(0, request_channel, rank, message_of(0, sent_ones++, 16)), sent);
  };
  const auto settle = [&] {
    EXPECT_TRUE(ranks.settle());
    arrived = {};
  };
  const auto peers_poll = [&] {
    for (int i = 0; i < 100; ++i) ranks.poll(1), ranks.poll(2);
  };
  // Nothing of rank 0's polls from here on.
  for (int i = 0; i < 200; ++i) send_to(1), ranks.network.now += 100;
  peers_poll();
  EXPECT_GT(arrived[1], 200U - 64U) << "less than 64 stay";
  settle();

  for (int i = 0; i < 20; ++i) send_to(1), ranks.network.now += 30'000;
  peers_poll();
  EXPECT_EQ(arrived[1], 20U) << "nothing is gathered where time passes between them";
  settle();

  for (int i = 0; i < 10; ++i) send_to(2), ranks.network.now += 100;
  for (int i = 0; i < 90; ++i) send_to(1), ranks.network.now += 1'000;
  peers_poll();
  EXPECT_EQ(arrived[2], 10U) << "what was gathered for another peer leaves after a while";
  settle();
}

TEST(Building, PlacesAreForWhatFitsIntoADatagramAndCountAsMessages) {
  EndpointSettings settings;
  settings.depth = 4;
  Ranks ranks(2, {.max_datagram = 5008}, settings);
  std::vector<std::size_t> sizes;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte> message) {
    EXPECT_EQ(number_of(message), sizes.size());
    sizes.push_back(message.size());
  };
  Endpoint& endpoint = *ranks.endpoints[0];
  EXPECT_EQ(endpoint.buffer(request_channel, 1, 16384), nullptr);
  EXPECT_EQ(endpoint.buffer(request_channel, 1, 100), nullptr)
      << "it shares a datagram with others";
  // With a longer beginning than there is room for it is cut all the same.
  ASSERT_EQ(send_built(ranks, message_of(0, 0, 4848 + 200), 4848, 4848), sent);
  ASSERT_EQ(send_built(ranks, message_of(0, 1, 4848 + 16), 4848, 4848), sent);
  ASSERT_TRUE(ranks.settle());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5048, 4864}));

  std::vector<void*> places;
  while (void* place = endpoint.buffer(request_channel, 1, 4000)) places.push_back(place);
  EXPECT_GE(places.size(), 4U);
  EXPECT_EQ(ranks.send(0, request_channel, 1, message_of(0, 2, 50)), would_block);
  EXPECT_EQ(ranks.send(0, reply_channel, 1, message_of(0, 2, 50)), sent);
  endpoint.release(places.back());
  EXPECT_EQ(ranks.send(0, request_channel, 1, message_of(0, 3, 50)), sent);
  places.pop_back();
  for (void* place : places) endpoint.release(place);
  ASSERT_TRUE(ranks.settle());
  EXPECT_EQ(sizes.size(), 4U);
}

TEST_P(OverABadNetwork, PutsAndGetsMoveEveryByte) {
  Ranks ranks(2, GetParam().faults);
  handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
  std::vector<std::byte> segment(1 << 20);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
  std::size_t offset = 3;
  for (const std::size_t size : {1, 8, 1000, 4096, 4097, 70000, 300001}) {
    const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(segment.data() + offset)};
    auto source = message_of(0, static_cast<std::uint32_t>(size), size);
    source.resize(size);
    int done = 0, local_done = 0, got = 0;
    ASSERT_EQ(
        ranks.endpoints[0]->put(remote, source.data(), size, &done, &local_done, ranks.network.now),
        sent);
    ASSERT_TRUE(ranks.run_until([&] { return local_done == 1 && done == 1; }));
    EXPECT_EQ(std::memcmp(segment.data() + offset, source.data(), size), 0);
    EXPECT_EQ(segment[offset - 1], std::byte{0});
    EXPECT_EQ(segment[offset + size], std::byte{0});
    std::vector<std::byte> back(size);
    ASSERT_EQ(ranks.endpoints[0]->get(remote, back.data(), size, &got, ranks.network.now), sent);
    ASSERT_TRUE(ranks.run_until([&] { return got == 1; }));
    EXPECT_EQ(back, source);
    offset += size + 5;
  }
  ASSERT_TRUE(ranks.settle());
}

TEST(Recovery, APeerThatVanishesAndComesBackGetsEverything) {
  Ranks ranks(2, {.seed = 3});
  std::vector<int> seen(1000);
  int count = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte> message) {
    ++seen[number_of(message)];
    ++count;
  };
  std::uint32_t next = 0;
  const auto send_some = [&](std::uint32_t up_to) {
    while (next < up_to && ranks.send(0, request_channel, 1, message_of(0, next, 100)) == sent)
      ++next;
  };
  ASSERT_TRUE(ranks.run_until([&] {
    send_some(300);
    return count == 300;
  }));
  ranks.network.cut_off(1, true);
  for (int i = 0; i < 10'000; ++i) {
    send_some(600);
    ranks.step(1'000'000);
  }
  EXPECT_EQ(count, 300);
  // What was sent meanwhile are a few probes.
  EXPECT_LT(ranks.endpoints[0]->counts().sent_again, 300U);
  ranks.network.cut_off(1, false);
  ASSERT_TRUE(ranks.run_until([&] {
    send_some(1000);
    return count == 1000;
  }));
  EXPECT_EQ(seen, std::vector<int>(1000, 1));
  ASSERT_TRUE(ranks.settle());
}

TEST(Recovery, APeerThatHasNeverAnsweredIsReportedOnce) {
  static std::vector<std::string> lines;
  lines.clear();
  constexpr auto second = 1000;
  Ranks ranks(3, {.seed = 3});
  for (Host& host : ranks.hosts) host.warn = [](const char* text) { lines.emplace_back(text); };
  handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) ranks.step(1'000'000);
  };
  // From the beginning, and after it has answered.
  ranks.network.cut_off(2, true);
  ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 0, 100)), sent);
  ASSERT_EQ(ranks.send(0, request_channel, 2, message_of(0, 1, 100)), sent);
  run(9 * second);
  EXPECT_TRUE(lines.empty());
  run(3 * second);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(
      lines[0].find("udp: nothing has come back from rank 2 (127.0.0.1, port 1002) in 10 s; "), 0U)
      << lines[0];
  run(30 * second);
  ranks.network.cut_off(2, false);
  ASSERT_TRUE(ranks.settle());
  ASSERT_EQ(ranks.send(2, request_channel, 0, message_of(2, 2, 100)), sent);
  ASSERT_TRUE(ranks.settle());
  ranks.network.cut_off(0, true);
  ASSERT_EQ(ranks.send(2, request_channel, 0, message_of(2, 3, 100)), sent);
  run(30 * second);
  EXPECT_EQ(lines.size(), 1U) << "it had answered before";
  ranks.network.cut_off(0, false);
  ASSERT_TRUE(ranks.settle());
}

TEST(Recovery, APeerWhoseAddressChangesIsFollowed) {
  Ranks ranks(2, {.seed = 3});
  int count = 0;
  handler = [&](std::uint32_t me, std::uint32_t source, Channel channel,
                std::span<const std::byte> message) {
    ++count;
    if (channel == reply_channel) return;
    EXPECT_EQ(ranks.send(me, reply_channel, source, message_of(source, number_of(message), 50)),
              sent);
  };
  for (int round = 0; round < 20; ++round) {
    if (round % 5 == 4) ranks.network.move(0);
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, round, 50)), sent);
    ASSERT_TRUE(ranks.run_until([&] { return count == 2 * (round + 1); }));
  }
  EXPECT_EQ(ranks.endpoints[1]->counts().moved, 4U);
  ASSERT_TRUE(ranks.settle());
}

TEST(Channels, RepliesGoOnWhereRequestsHaveNoRoom) {
  EndpointSettings settings;
  settings.depth = 64;
  settings.receive_memory = 1 << 20;
  Ranks ranks(2, {.seed = 3, .receive_buffer = 4 << 20}, settings);
  int requests = 0, replies = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel channel, std::span<const std::byte>) {
    ++(channel == request_channel ? requests : replies);
  };
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    while (ranks.send(0, request_channel, 1, message_of(0, accepted, 16000)) == sent) ++accepted;
    ranks.poll(0);
    ranks.poll(1, 1U << reply_channel);
    ranks.network.now += 1000;
    ASSERT_LT(accepted, 1000);
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ranks.send(0, reply_channel, 1, message_of(0, i, 16000)), sent);
    for (int tries = 0; replies <= i && tries < 100'000; ++tries) {
      ranks.poll(0);
      ranks.poll(1, 1U << reply_channel);
      ranks.network.now += 1000;
    }
    ASSERT_EQ(replies, i + 1);
  }
  EXPECT_EQ(requests, 0);
  ASSERT_TRUE(ranks.run_until([&] { return requests == accepted; }));
  ASSERT_TRUE(ranks.settle());
}

TEST(Outsiders, ReplaysAndForgeriesAreRefusedAndCounted) {
  Ranks ranks(2, {.seed = 3});
  int count = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) { ++count; };
  ranks.network.records = true;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, i, 40)), sent);
    ASSERT_TRUE(ranks.run_until([&] { return count == i + 1; }));
  }
  ASSERT_TRUE(ranks.settle());
  ranks.network.records = false;
  const auto recorded = std::move(ranks.network.recorded);
  for (const auto& old : recorded) {
    ranks.network.inject(old.to == 1001 ? 1 : 0, old.bytes, old.from);
    auto changed = old.bytes;
    changed[changed.size() - 1] ^= std::byte{1};
    ranks.network.inject(1, changed, old.from);
    ranks.step(10'000);
  }
  ASSERT_TRUE(ranks.settle());
  EXPECT_EQ(count, 100);
  EXPECT_GE(ranks.endpoints[1]->counts().duplicates, 100U);
  EXPECT_GE(ranks.endpoints[1]->counts().unauthenticated, 100U);
}

// A program may read what another writes meanwhile: it gets old or new bytes, but an answer.
TEST(Transfers, OfMemoryThatChangesMeanwhileComeToAnEnd) {
  Ranks ranks(2, {.seed = 3, .max_datagram = 9000});
  handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
  constexpr std::size_t large = 100'000;
  std::vector<std::byte> memory(large), copy(large);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(memory.data(), memory.size(), key));
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  for (const std::size_t size : {std::size_t{8}, large}) {
    std::uint8_t turn = 0;
    ranks.network.before_send = [&] { std::fill(memory.begin(), memory.end(), std::byte{++turn}); };
    const std::uint64_t refused = ranks.endpoints[0]->counts().unauthenticated;
    int done = 0;
    ASSERT_EQ(ranks.endpoints[0]->get(remote, copy.data(), size, &done, ranks.network.now), sent);
    ASSERT_TRUE(ranks.run_until([&] { return done == 1; })) << size;
    // Small ones are copied at once.
    if (size == 8) {
      EXPECT_EQ(ranks.endpoints[0]->counts().unauthenticated, refused);
    }
    ASSERT_EQ(
        ranks.endpoints[0]->put(remote, memory.data(), size, &done, nullptr, ranks.network.now),
        sent);
    ASSERT_TRUE(ranks.run_until([&] { return done == 2; })) << size;
  }
  ASSERT_TRUE(ranks.settle());
}

// The system takes some of what it is given, and later the rest.
TEST_P(OverABadNetwork, WhatTheSystemRefusesIsSentAgain) {
  Ranks ranks(2, GetParam().faults);
  Random random(23);
  ranks.network.takes = [&](std::size_t all) {
    return random.below(3) == 0 ? random.below(all) : all;
  };
  std::uint32_t asked = 0, answered = 0;
  handler = [&](std::uint32_t me, std::uint32_t source, Channel channel,
                std::span<const std::byte> message) {
    ++(channel == request_channel ? asked : answered);
    if (channel == request_channel) {
      EXPECT_EQ(ranks.send(me, reply_channel, source, message_of(me, number_of(message), 100)),
                sent);
    }
  };
  constexpr std::size_t size = 200'000;
  std::vector<std::byte> memory(size), source(size, std::byte{3}), target(size);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[1]->add(memory.data(), size, key));
  const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  for (std::uint32_t i = 0; i < 15; ++i) {
    int puts = 0, gets = 0;
    Endpoint& endpoint = *ranks.endpoints[0];
    ASSERT_EQ(endpoint.put(remote, source.data(), size, &puts, nullptr, ranks.network.now), sent);
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, i, 3000)), sent);
    ASSERT_TRUE(ranks.run_until([&] { return puts == 1 && answered == i + 1; })) << i;
    ASSERT_EQ(endpoint.get(remote, target.data(), size, &gets, ranks.network.now), sent);
    ASSERT_TRUE(ranks.run_until([&] { return gets == 1; })) << i;
    ASSERT_EQ(target, source);
    std::fill(target.begin(), target.end(), std::byte{0});
  }
  ASSERT_TRUE(ranks.settle());
  EXPECT_EQ(asked, 15U);
}

// Between the moment at which a packet is sent again and that at which the system refuses it, it
// may be acknowledged, and its memory be used for another.
TEST(Refusals, OfWhatHasBeenAcknowledgedMeanwhileChangeNothing) {
  Ranks ranks(2, {.max_datagram = 1472, .joins = true});
  int arrived = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) { ++arrived; };
  std::vector<std::byte> memory(20'000), target(20'000);
  SegmentKey key{};
  ASSERT_TRUE(ranks.segments[0]->add(memory.data(), memory.size(), key));
  const auto send = [&](std::uint32_t number) {
    EXPECT_EQ(ranks.send(0, request_channel, 1, message_of(0, number, 1000)), sent);
    ranks.poll(0);
  };
  send(0);
  ASSERT_TRUE(ranks.settle());
  const std::uint64_t received = ranks.endpoints[0]->counts().received;
  // The first of five more comes late.
  ranks.network.records = true;
  ranks.network.cut_off(1, true);
  send(1);
  ranks.network.cut_off(1, false);
  ranks.network.records = false;
  ASSERT_EQ(ranks.network.recorded.size(), 1U);
  for (std::uint32_t number = 2; number < 6; ++number) send(number);
  ranks.network.now += 20'000;
  for (int i = 0; i < 4 && arrived != 5; ++i) ranks.poll(1);
  ASSERT_EQ(arrived, 5);
  // Rank 1 asks for something, and reports the gap; then the missing one arrives.
  int got = 0;
  const Remote remote{0, &key, reinterpret_cast<std::uint64_t>(memory.data())};
  ASSERT_EQ(ranks.endpoints[1]->get(remote, target.data(), target.size(), &got, ranks.network.now),
            sent);
  ranks.network.inject(1, ranks.network.recorded[0].bytes, ranks.network.recorded[0].from, true);
  ranks.poll(1);
  ranks.poll(1);
  ASSERT_EQ(arrived, 6);
  // Rank 0 finds both in one poll, and can send nothing in it.
  ranks.network.takes = [](std::size_t) { return std::size_t{0}; };
  ranks.network.now += 20'000;
  ranks.poll(0);
  EXPECT_EQ(ranks.endpoints[0]->counts().received - received, 2U);
  EXPECT_EQ(ranks.endpoints[0]->counts().sent_again, 1U);
  ranks.network.takes = [](std::size_t all) { return all; };
  ASSERT_TRUE(ranks.run_until([&] { return got == 1; }));
  for (std::uint32_t number = 6; number < 200; ++number) {
    send(number);
    ASSERT_TRUE(ranks.run_until([&] { return arrived == static_cast<int>(number) + 1; })) << number;
  }
  ASSERT_TRUE(ranks.settle());
}

// Threads come to an endpoint's lock in another order than they have read the clock.
TEST(Clocks, OfThreadsMayBeBehindOneAnother) {
  Ranks ranks(2, {.delay = 1'000});
  int arrived = 0;
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) { ++arrived; };
  for (int i = 0; i < 3; ++i) {
    // One thread has read the clock, another sends and its message arrives, and the first one
    // polls.
    const Time before = ranks.network.now;
    ranks.network.now += 50'000;
    ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, i, 100)), sent);
    ranks.network.now += 5'000;
    ranks.poll(1);
    ranks.poll(1);
    ranks.network.now += 5'000;
    current_rank = 0;
    ranks.endpoints[0]->poll(both, everything, before);
    ASSERT_TRUE(ranks.settle());
  }
  ASSERT_EQ(arrived, 3);
  // What is lost is sent again after what round trips take, not after the longest time there is.
  ranks.network.cut_off(1, true);
  ASSERT_EQ(ranks.send(0, request_channel, 1, message_of(0, 3, 100)), sent);
  ranks.network.cut_off(1, false);
  const Time begin = ranks.network.now;
  ASSERT_TRUE(ranks.run_until([&] { return arrived == 4; }));
  EXPECT_LT(ranks.network.now - begin, 20'000'000U);
  ASSERT_TRUE(ranks.settle());
}

// 5% of random loss must not be taken for congestion.
TEST(Recovery, RandomLossCostsLessThanHalfOfTheRate) {
  Time taken[2];
  for (int lossy = 0; lossy < 2; ++lossy) {
    Ranks ranks(2, {.seed = 3, .loss = lossy != 0 ? 0.05 : 0.0, .delay = 50'000});
    handler = [](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>) {};
    constexpr std::size_t size = 64 << 20;
    static std::vector<std::byte> segment(size), source(size);
    SegmentKey key{};
    ASSERT_TRUE(ranks.segments[1]->add(segment.data(), segment.size(), key));
    const Remote remote{1, &key, reinterpret_cast<std::uint64_t>(segment.data())};
    int done = 0;
    const Time begin = ranks.network.now;
    ASSERT_EQ(
        ranks.endpoints[0]->put(remote, source.data(), size, &done, nullptr, ranks.network.now),
        sent);
    ASSERT_TRUE(ranks.run_until([&] { return done == 1; }));
    taken[lossy] = ranks.network.now - begin;
  }
  EXPECT_LT(taken[1], 2 * taken[0]);
}

}  // namespace
}  // namespace gex::net::udp::test
