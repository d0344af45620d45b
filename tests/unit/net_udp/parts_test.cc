// The parts of an endpoint by themselves: what counts as absence, which acknowledgements leave
// when, and how messages and records share packets.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "net/udp/acknowledgements.h"
#include "net/udp/attendance.h"
#include "net/udp/packer.h"
#include "simulated_network.h"

namespace gex::net::udp::test {
namespace {

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
    for (std::uint32_t rank = 0; rank < peers.size(); ++rank) {
      peers[rank].rank = rank;
      peers[rank].address = SimulatedNetwork::address_of(rank);
    }
    network.records = true;
    // So that grants are not the reason why something leaves.
    for (Peer& peer : peers) peer.share.granted = std::size_t{1} << 20;
  }

  /// A sequenced datagram has come from there.
  void comes(Peer& peer, std::uint32_t sequence) {
    ASSERT_EQ(peer.received.state_of(sequence), ReceivedSequence::is_new);
    peer.received.accept(sequence);
    ++peer.unanswered;
    acknowledgements.owe(peer);
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
  std::vector<Peer> peers{3};
  ReceiveBuffers buffers{40, 2048, 24};
  ReceiveRoom room{std::size_t{1} << 20, 4096, 3};
  Burst burst{*socket, seal, true};
  Acknowledgements acknowledgements{0, buffers, room, burst};
};

TEST_F(AcknowledgementsTest, OneWaitsForMoreAndLeavesWithTheFirstIdlePoll) {
  comes(peers[1], 0);
  acknowledgements.send_owed(/*idle=*/false);
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(acknowledgements.has_owed());
  comes(peers[1], 2);
  acknowledgements.send_owed(/*idle=*/true);
  const std::vector<Header> headers = left();
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers[0].next_expected, 1U);
  EXPECT_EQ(headers[0].received, 1U);
  EXPECT_FALSE(acknowledgements.has_owed());
}

TEST_F(AcknowledgementsTest, ADatagramThatGoesThereTakesItAlong) {
  comes(peers[1], 0);
  const Header header = acknowledgements.header_for(peers[1], sequenced);
  EXPECT_EQ(header.next_expected, 1U);
  EXPECT_NE(header.window, 0U);
  acknowledgements.send_owed(/*idle=*/true);
  EXPECT_TRUE(left().empty());
  EXPECT_FALSE(acknowledgements.has_owed());
}

TEST_F(AcknowledgementsTest, OneThatIsAwaitedLeavesAtOnceAndManyDoTogether) {
  comes(peers[1], 0);
  peers[1].answer_now = true;
  for (std::uint32_t sequence = 0; sequence < 16; ++sequence) comes(peers[2], sequence);
  acknowledgements.send_owed(/*idle=*/false);
  const std::vector<Header> headers = left();
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers[0].next_expected + headers[1].next_expected, 1U + 16U);
}

TEST_F(AcknowledgementsTest, WithoutRoomForRequestsTheyAreRefusedUntilThereIsSome) {
  std::vector<ReceiveBuffers::Buffer*> held;
  while (buffers.may_hold(request_channel))
    buffers.hold(request_channel, *held.emplace_back(buffers.take()));
  EXPECT_NE(acknowledgements.header_for(peers[1], 0).flags & no_requests, 0);
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
    peer.datagram = 4096;
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
  std::uint32_t ready() const {
    return peer.ready[static_cast<std::size_t>(Traffic::requests)].count();
  }
  Packet* open() const { return peer.open[static_cast<std::size_t>(Traffic::requests)]; }

  static std::vector<PeerSettings> all() {
    std::vector<PeerSettings> peers(2);
    for (PeerSettings& peer : peers) peer.datagram = 4096;
    return peers;
  }

  Packer packer{all(), 0, settings()};
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

TEST_F(PackerTest, APayloadIsSentFromWhereItWasBuilt) {
  void* const payload = packer.build(request_channel, peer, 3000);
  ASSERT_NE(payload, nullptr);
  EXPECT_EQ(packer.in_flight(), 0U);
  std::memset(payload, 'p', 3000);
  const std::string header(32, 'h');
  const Piece pieces[] = {{header.data(), header.size()}, {payload, 3000}};
  EXPECT_EQ(packer.add_message(request_channel, peer, pieces, 3032), record_size(3032));
  ASSERT_EQ(ready(), 1U);
  const Packet& packet = *peer.ready[static_cast<std::size_t>(Traffic::requests)].first();
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

}  // namespace
}  // namespace gex::net::udp::test
