// The parts of an endpoint by themselves: what counts as absence, which acknowledgements leave
// when, how messages and records share packets, and which peers are made.

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "net/udp/acknowledgements.h"
#include "net/udp/attendance.h"
#include "net/udp/packer.h"
#include "net/udp/round_trip.h"
#include "ranks.h"
#include "simulated_network.h"

namespace gex::net::udp::test {
namespace {

TEST(RoundTrip, WaitsEverLongerForASilentPeerAndShortlyOnceSomethingComes) {
  constexpr Time ms = 1'000'000;
  RoundTrip round_trip;
  for (Time before = 0; round_trip.timeout() != RoundTrip::longest; round_trip.timed_out()) {
    EXPECT_GT(round_trip.timeout(), before);
    before = round_trip.timeout();
  }
  EXPECT_TRUE(round_trip.something_came());
  EXPECT_LE(round_trip.timeout(), 100 * ms);
  EXPECT_GT(round_trip.timeout(), 40 * ms);
  EXPECT_FALSE(round_trip.something_came());
  round_trip.progressed();
  EXPECT_LE(round_trip.timeout(), ms);
}

TEST(Attendance, APollLongAfterTheOneBeforeEndsAnAbsence) {
  Attendance attendance;
  Time now = 10 * Attendance::away;
  attendance.polled(now, true);
  attendance.polled(now += Attendance::away, true);
  EXPECT_EQ(attendance.absence(), 0U);
  attendance.polled(now += Attendance::away + 1, true);
  EXPECT_EQ(attendance.absence(), Attendance::away + 1);
  EXPECT_EQ(attendance.since_poll_before(now), Attendance::away + 1);
  // Until what had come meanwhile is received.
  attendance.polled(now += 10, false);
  EXPECT_EQ(attendance.absence(), Attendance::away + 1);
  attendance.polled(now += 10, true);
  EXPECT_EQ(attendance.absence(), 0U);
}

TEST(Attendance, AThreadThatSleepsUntilADatagramComesIsNotAbsent) {
  Attendance attendance;
  Time now = Attendance::away;
  attendance.polled(now, true);
  attendance.watch(now + 10 * Attendance::away);
  attendance.polled(now += 5 * Attendance::away, true);
  EXPECT_EQ(attendance.absence(), 0U);
  attendance.polled(now += 7 * Attendance::away, true);
  EXPECT_EQ(attendance.absence(), 2 * Attendance::away);
}

class AcknowledgementsTest : public testing::Test {
 protected:
  AcknowledgementsTest() {
    for (std::uint32_t rank = 0; rank < peers.ranks(); ++rank) {
      // So that grants are not the reason why something leaves.
      peer(rank).share.granted = std::size_t{1} << 20;
      peer(rank).address = SimulatedNetwork::address_of(rank);
    }
    network.records = true;
  }

  Peer& peer(std::uint32_t rank) { return peers.find_or_make(rank); }
  /// A sequenced datagram has come from there.
  void comes(Peer& from, std::uint32_t sequence) {
    ASSERT_EQ(from.received.state_of(sequence), ReceivedSequence::is_new);
    from.received.accept(sequence);
    ++from.unacknowledged_here;
    acknowledgements.owe(from);
  }
  /// The headers that have left since the last call.
  std::vector<Header> left() {
    burst.send();
    std::vector<Header> headers;
    for (const auto& one : network.recorded)
      std::memcpy(&headers.emplace_back(), one.bytes.data(), sizeof(Header));
    network.recorded.clear();
    return headers;
  }

  SimulatedNetwork network{Faults{}};
  std::unique_ptr<Socket> socket = network.open(0);
  Seal seal{SipKey{1, 2}};
  const EndpointSettings settings;
  const Listed directory{std::vector<PeerSettings>(3)};
  Peers peers{{0, settings, directory, seal, 4096}};
  ReceiveBuffers buffers{40, 2048, 24};
  ReceiveRoom room{std::size_t{1} << 20, 4096, 3};
  Burst burst{*socket, seal, true};
  Acknowledgements acknowledgements{0, buffers, room, burst};
};

TEST_F(AcknowledgementsTest, OneWaitsForMoreAndLeavesWithTheFirstIdlePoll) {
  comes(peer(1), 0);
  acknowledgements.send_owed(/*idle=*/false);
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(acknowledgements.has_owed());
  comes(peer(1), 2);
  acknowledgements.send_owed(/*idle=*/true);
  const std::vector<Header> headers = left();
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers[0].next_expected, 1U);
  EXPECT_EQ(headers[0].received, 1U);
  EXPECT_FALSE(acknowledgements.has_owed());
}

TEST_F(AcknowledgementsTest, ADatagramThatGoesThereTakesItAlong) {
  comes(peer(1), 0);
  const Header header = acknowledgements.header_for(peer(1), sequenced);
  EXPECT_EQ(header.next_expected, 1U);
  EXPECT_NE(header.window, 0U);
  acknowledgements.send_owed(/*idle=*/true);
  EXPECT_TRUE(left().empty());
  EXPECT_FALSE(acknowledgements.has_owed());
}

TEST_F(AcknowledgementsTest, OneThatIsAwaitedLeavesAtOnceAndManyDoTogether) {
  comes(peer(1), 0);
  peer(1).acknowledgement_is_due = true;
  for (std::uint32_t sequence = 0; sequence < 16; ++sequence) comes(peer(2), sequence);
  acknowledgements.send_owed(/*idle=*/false);
  const std::vector<Header> headers = left();
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers[0].next_expected + headers[1].next_expected, 1U + 16U);
}

TEST_F(AcknowledgementsTest, OneThatIsOwedNowLeavesWithTheNextPollThoughNothingWasAccepted) {
  acknowledgements.owe_now(peer(1));
  acknowledgements.send_owed(/*idle=*/false);
  ASSERT_EQ(left().size(), 1U);
  acknowledgements.send_owed(/*idle=*/true);
  EXPECT_TRUE(left().empty());
}

TEST_F(AcknowledgementsTest, WithoutRoomForRequestsTheyAreRefusedUntilThereIsSome) {
  std::vector<ReceiveBuffers::Buffer*> held;
  while (buffers.may_hold(request_channel))
    buffers.hold(request_channel, *held.emplace_back(buffers.take()));
  EXPECT_NE(acknowledgements.header_for(peer(1), 0).flags & no_requests, 0);
  acknowledgements.resume_requests(peers);
  EXPECT_TRUE(left().empty());
  for (ReceiveBuffers::Buffer* const one : held) buffers.release(*one);
  acknowledgements.resume_requests(peers);
  const std::vector<Header> headers = left();
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers[0].flags & no_requests, 0);
  acknowledgements.resume_requests(peers);
  EXPECT_TRUE(left().empty());
}

class PackerTest : public testing::Test {
 protected:
  PackerTest() {
    peer.rank = 1;
    peer.message_datagram = 4096;
    peer.window = std::size_t{1} << 20;
  }
  static EndpointSettings settings() {
    EndpointSettings settings;
    settings.max_message = 16640;
    settings.depth = 2;
    return settings;
  }
  std::size_t add(std::size_t size) {
    const std::string bytes(size, 'x');
    const Piece piece{bytes.data(), bytes.size()};
    return packer.add_message(request_channel, peer, {&piece, 1}, size);
  }
  std::uint32_t ready() const { return peer.ready[at(Traffic::requests)].count(); }
  Packet* open() const { return peer.open[at(Traffic::requests)]; }

  static std::vector<PeerSettings> all() {
    std::vector<PeerSettings> peers(2);
    for (PeerSettings& peer : peers) peer.datagram = 4096;
    return peers;
  }

  Packer packer{PeerBounds::of(all()), 2, settings()};
  Peer peer;
};

TEST_F(PackerTest, SmallMessagesShareAPacketUntilItIsFull) {
  EXPECT_EQ(add(1000), record_size(1000));
  EXPECT_EQ(add(1000), record_size(1000));
  EXPECT_EQ(packer.in_flight(), 1U);
  EXPECT_EQ(ready(), 0U);
  add(3000);
  EXPECT_EQ(packer.in_flight(), 2U);
  EXPECT_EQ(ready(), 1U);
  ASSERT_NE(open(), nullptr);
  EXPECT_EQ(open()->size, sizeof(Header) + record_size(3000));
}

TEST_F(PackerTest, WhatIsLargerThanADatagramIsSentInPartsOrNotAtAll) {
  EXPECT_NE(add(16640), 0U);
  EXPECT_EQ(ready(), 5U);
  EXPECT_NE(add(16640), 0U);
  // As many packets as two messages take are the peer's.
  EXPECT_EQ(add(16640), 0U);
  EXPECT_EQ(add(1), 0U);
  EXPECT_EQ(packer.in_flight(), 10U);
}

TEST_F(PackerTest, TheBytesOfAllRecordsAreReported) {
  std::size_t added = 0;
  for (const std::size_t size : {1001, 3000, 9001, 7}) added += add(size);
  std::size_t held = open()->record_bytes();
  LinkedQueue<Packet>& whole = peer.ready[at(Traffic::requests)];
  while (!whole.empty()) held += whole.pop()->record_bytes();
  EXPECT_EQ(added, held);
}

TEST_F(PackerTest, APayloadIsSentFromWhereItWasBuilt) {
  void* const payload = packer.build(request_channel, peer, 3000);
  ASSERT_NE(payload, nullptr);
  EXPECT_EQ(packer.in_flight(), 0U);
  std::memset(payload, 'p', 3000);
  const std::string header(32, 'h');
  const Piece pieces[] = {{header.data(), header.size()}, {payload, 3000}};
  EXPECT_EQ(packer.add_message(request_channel, peer, pieces, 3032), record_size(3032));
  ASSERT_EQ(ready(), 1U);
  const Packet& packet = *peer.ready[at(Traffic::requests)].first();
  const std::byte* const message = packet.bytes() + sizeof(Header) + sizeof(Record);
  EXPECT_EQ(message + 32, payload);
  EXPECT_EQ(std::memcmp(message, header.data(), header.size()), 0);
  // Small payloads are copied.
  EXPECT_EQ(packer.build(request_channel, peer, 100), nullptr);
}

TEST_F(PackerTest, WhatIsNotSentLeavesItsPacketToOthers) {
  for (int i = 0; i < 100; ++i) {
    void* const payload = packer.build(request_channel, peer, 3000);
    ASSERT_NE(payload, nullptr);
    Packet* const packet = packer.built_at(payload);
    ASSERT_NE(packet, nullptr);
    packer.cancel_building(peer, *packet);
  }
  EXPECT_EQ(packer.in_flight(), 0U);
}

/// A job of a million ranks.
struct Million final : PeerDirectory {
  static constexpr std::uint32_t count = 1U << 20;

  std::size_t ranks() const noexcept override { return count; }
  PeerBounds bounds() const noexcept override { return PeerBounds::of({&any, 1}); }
  PeerSettings settings_of(std::uint32_t rank) const override {
    PeerSettings peer = any;
    peer.address = SimulatedNetwork::address_of(rank % 50);
    peer.session = session_of(rank);
    return peer;
  }
  std::uint32_t session_of(std::uint32_t rank) const noexcept override { return 7 * rank; }

  const PeerSettings any = [] {
    PeerSettings peer;
    peer.datagram = 4096;
    peer.first_window = 1 << 16;
    return peer;
  }();
};

/// Bytes of memory that this process uses.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Rank 0 of a million.
struct OneOfAMillion {
  SimulatedNetwork network{Faults{}};
  Million job;
  Host host{.version = interface_version,
            .rank = 0,
            .size = Million::count,
            .threaded = 0,
            .deliver = [](std::uint32_t, Channel, const void*, std::size_t) {},
            .fatal = die};
  std::unique_ptr<Socket> socket = network.open(0);
  Seal seal{SipKey{1, 2}};
  Segments segments{false};
  Endpoint endpoint{host,
                    *socket,
                    seal,
                    segments,
                    EndpointSettings{.max_message = 2000, .depth = 16, .total_depth = 4096},
                    job};

  SendResult send(std::uint32_t to) {
    const std::string text(100, 'x');
    const Piece piece{text.data(), text.size()};
    return endpoint.send(request_channel, to, {&piece, 1}, network.now);
  }
};

TEST(Peers, TakeMemoryByHowManyOfThemAreLive) {
  const auto heap_with = [](std::uint32_t live) {
    const std::size_t before = mallinfo2().uordblks;
    OneOfAMillion one;
    for (std::uint32_t peer = 1; peer <= live; ++peer) EXPECT_EQ(one.send(15'000 * peer), sent);
    EXPECT_EQ(one.endpoint.live_peers(), live);
    return mallinfo2().uordblks - before;
  };
  const std::size_t of_one = heap_with(1);
  constexpr std::size_t max_of_peer = 2048;
  EXPECT_LE(heap_with(63), of_one + 62 * max_of_peer);
}

TEST(Peers, AreMadeWhenTheyAreFirstOfUseAndNotForUnauthenticatedDatagrams) {
  const std::size_t before = resident_bytes();
  OneOfAMillion one;
  Endpoint& endpoint = one.endpoint;
  ASSERT_TRUE(endpoint.has_memory());
  EXPECT_EQ(endpoint.live_peers(), 0U);

  for (const std::uint32_t to : {3U, 900'000U, 3U}) EXPECT_EQ(one.send(to), sent);
  EXPECT_EQ(endpoint.live_peers(), 2U);
  for (std::uint32_t i = 0; i < 100; ++i) {
    Header header{};
    header.size = sizeof header;
    header.source = 10'000 * i + 1;
    header.number = 1;
    header.tag = i;
    std::vector<std::byte> datagram(sizeof header);
    std::memcpy(datagram.data(), &header, sizeof header);
    one.network.inject(0, datagram, SimulatedNetwork::address_of(1), /*at_once=*/true);
    endpoint.poll(1U << request_channel | 1U << reply_channel, 1, one.network.now);
  }
  EXPECT_EQ(endpoint.counts().unauthenticated, 100U);
  EXPECT_EQ(endpoint.live_peers(), 2U);
  // A fraction of a pointer for each silent rank; the buffers of the endpoint itself are in it too.
  EXPECT_LT(resident_bytes() - before, std::size_t{8} * Million::count);
}

}  // namespace
}  // namespace gex::net::udp::test
