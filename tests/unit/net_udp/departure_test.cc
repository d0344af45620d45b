// A packet is held back by each limit alone; the limits are those of departure.h.

#include "net/udp/departure.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace gex::net::udp {
namespace {

constexpr std::size_t charge = 2048;
constexpr Time now = 1'000'000'000;

/// A peer with one packet of `charge` in flight, and all limits far away.
class Departures : public testing::Test {
 protected:
  Departures() {
    peer_.window = std::size_t{1} << 30;
    limit_congestion(std::size_t{1} << 30);
    send();
  }
  void limit_congestion(std::size_t window) {
    Congestion::Settings settings;
    settings.initial = settings.max = window;
    peer_.congestion = Congestion(settings);
  }
  void send() {
    Packet& packet = *packets_.emplace_back(std::make_unique<Packet>());
    packet.charge = charge;
    peer_.unacknowledged.add(packet);
    peer_.unacknowledged.transmitted(packet, now);
  }
  void refuse_requests(Time probe_at) {
    peer_.refuses_requests = true;
    peer_.probe_at = probe_at;
  }
  Departure again(Traffic traffic) { return departure_of(peer_, traffic, false, charge, now); }
  Departure anew(Traffic traffic) { return departure_of(peer_, traffic, true, charge, now); }

  std::vector<std::unique_ptr<Packet>> packets_;
  Peer peer_;
};

TEST_F(Departures, NothingHoldsAPacketWithinTheWindows) {
  for (const Traffic traffic : {Traffic::requests, Traffic::replies, Traffic::one_sided}) {
    EXPECT_EQ(anew(traffic), Departure::now);
    EXPECT_EQ(again(traffic), Departure::now);
  }
}

TEST_F(Departures, ThePeersWindowHoldsAll) {
  peer_.window = 2 * charge - 1;
  EXPECT_EQ(anew(Traffic::replies), Departure::none);
  EXPECT_EQ(again(Traffic::replies), Departure::none);
  peer_.window = 2 * charge;
  EXPECT_EQ(anew(Traffic::replies), Departure::now);
}

TEST_F(Departures, TheCongestionWindowHoldsAll) {
  limit_congestion(2 * charge - 1);
  EXPECT_EQ(anew(Traffic::one_sided), Departure::none);
  EXPECT_EQ(again(Traffic::one_sided), Departure::none);
}

TEST_F(Departures, PacingHoldsAll) {
  peer_.pacing = Pacing(charge);
  peer_.pacing.update(64 * charge, 1'000'000, 0, now);
  while (peer_.unacknowledged.in_flight() <= 8 * charge) {
    peer_.pacing.sent(charge);
    send();
  }
  ASSERT_FALSE(peer_.pacing.may_send(peer_.unacknowledged.in_flight()));
  EXPECT_EQ(anew(Traffic::replies), Departure::none);
}

TEST_F(Departures, SequenceNumbersHoldWhatIsNew) {
  while (peer_.unacknowledged.has_room()) send();
  EXPECT_EQ(anew(Traffic::replies), Departure::none);
  EXPECT_EQ(again(Traffic::replies), Departure::now);
}

TEST_F(Departures, APeerThatRefusesRequestsIsAskedAgainByOneThatItRefused) {
  refuse_requests(now + 1);
  EXPECT_EQ(again(Traffic::requests), Departure::no_requests);
  EXPECT_EQ(anew(Traffic::requests), Departure::no_requests);
  EXPECT_EQ(anew(Traffic::replies), Departure::now);
  refuse_requests(now);
  EXPECT_EQ(anew(Traffic::requests), Departure::no_requests) << "others are there to be sent again";
  EXPECT_EQ(again(Traffic::requests), Departure::now);
  EXPECT_GT(peer_.probe_at, now) << "one at a time asks";
  EXPECT_EQ(again(Traffic::requests), Departure::no_requests);
}

TEST_F(Departures, ARequestThatTheWindowHoldsHasNotAsked) {
  refuse_requests(now);
  peer_.window = charge;
  EXPECT_EQ(again(Traffic::requests), Departure::none);
  EXPECT_EQ(peer_.probe_at, now);
}

TEST(Departure, OneMayAlwaysBeInFlight) {
  Peer peer;
  EXPECT_EQ(departure_of(peer, Traffic::requests, true, charge, now), Departure::now);
  peer.refuses_requests = true;
  peer.probe_at = now;
  EXPECT_EQ(departure_of(peer, Traffic::requests, true, charge, now), Departure::now);
}

}  // namespace
}  // namespace gex::net::udp
