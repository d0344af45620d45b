// A packet is held back by each limit alone; the limits are those of departure.h.

#include "net/udp/departure.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace gex::net::udp {
namespace {

constexpr std::size_t charge = 2048;
constexpr std::size_t far_away = std::size_t{1} << 30;
constexpr Time now = 1'000'000'000;

/// A peer with one packet of `charge` in flight, and all limits far away.
class Departures : public testing::Test {
 protected:
  Departures() {
    peer_.window = far_away;
    limit_congestion(far_away, far_away);
    send();
  }
  void limit_congestion(std::size_t window, std::size_t max) {
    peer_.congestion =
        Congestion({.initial = window, .least = charge, .max = max, .delay_counts = false});
  }
  void send() {
    Packet& packet = *packets_.emplace_back(std::make_unique<Packet>());
    packet.charge = charge;
    peer_.unacknowledged.add(packet);
    peer_.unacknowledged.transmitted(packet, now);
  }
  void refuse_requests(Time ask_again_at) {
    peer_.refuses_requests = true;
    peer_.ask_again_at = ask_again_at;
  }
  Departure again(Traffic traffic) { return departure_of(peer_, traffic, false, charge, now); }
  Departure anew(Traffic traffic) { return departure_of(peer_, traffic, true, charge, now); }

  std::vector<std::unique_ptr<Packet>> packets_;
  Peer peer_;
};

TEST_F(Departures, NothingHoldsAPacketWithinTheWindows) {
  for (const Traffic traffic : {Traffic::requests, Traffic::replies, Traffic::one_sided}) {
    EXPECT_EQ(anew(traffic), Departure::allowed);
    EXPECT_EQ(again(traffic), Departure::allowed);
  }
}

TEST_F(Departures, ThePeersWindowHoldsAll) {
  peer_.window = 2 * charge - 1;
  EXPECT_EQ(anew(Traffic::replies), Departure::peer_window);
  EXPECT_EQ(again(Traffic::replies), Departure::peer_window);
  peer_.window = 2 * charge;
  EXPECT_EQ(anew(Traffic::replies), Departure::allowed);
}

TEST_F(Departures, TheCongestionWindowHoldsAll) {
  limit_congestion(2 * charge - 1, 2 * charge - 1);
  EXPECT_EQ(anew(Traffic::one_sided), Departure::congestion_window);
  EXPECT_EQ(again(Traffic::one_sided), Departure::congestion_window);
}

// It grows only while it is what holds packets back.
TEST_F(Departures, TheCongestionWindowIsFilledByWhatItHoldsAndBySequenceNumbers) {
  const auto is_filled = [&] {
    const std::size_t before = peer_.congestion.window();
    peer_.congestion.acknowledged(charge, 1, 1, /*waited=*/false, now);
    return peer_.congestion.window() > before;
  };
  limit_congestion(2 * charge, far_away);
  EXPECT_EQ(anew(Traffic::replies), Departure::allowed);
  EXPECT_FALSE(is_filled());
  peer_.window = charge;
  EXPECT_EQ(anew(Traffic::replies), Departure::peer_window);
  EXPECT_FALSE(is_filled());
  peer_.window = far_away;
  send();
  EXPECT_EQ(anew(Traffic::replies), Departure::congestion_window);
  EXPECT_TRUE(is_filled());
  limit_congestion(far_away, 2 * far_away);
  while (peer_.unacknowledged.has_room()) send();
  EXPECT_EQ(anew(Traffic::replies), Departure::sequence_numbers);
  EXPECT_TRUE(is_filled());
}

TEST_F(Departures, PacingHoldsAll) {
  peer_.pacing = Pacing(charge);
  peer_.pacing.update(64 * charge, 1'000'000, 0, now);
  while (peer_.unacknowledged.in_flight() <= 8 * charge) {
    peer_.pacing.sent(charge);
    send();
  }
  ASSERT_FALSE(peer_.pacing.may_send(peer_.unacknowledged.in_flight()));
  EXPECT_EQ(anew(Traffic::replies), Departure::pacing);
}

TEST_F(Departures, SequenceNumbersHoldWhatIsNew) {
  while (peer_.unacknowledged.has_room()) send();
  EXPECT_EQ(anew(Traffic::replies), Departure::sequence_numbers);
  EXPECT_EQ(again(Traffic::replies), Departure::allowed);
}

TEST_F(Departures, APeerThatRefusesRequestsIsAskedAgainByOneThatItRefused) {
  refuse_requests(now + 1);
  EXPECT_EQ(again(Traffic::requests), Departure::requests_refused);
  EXPECT_EQ(anew(Traffic::requests), Departure::requests_refused);
  EXPECT_EQ(anew(Traffic::replies), Departure::allowed);
  refuse_requests(now);
  EXPECT_EQ(anew(Traffic::requests), Departure::requests_refused)
      << "others are there to be sent again";
  EXPECT_EQ(again(Traffic::requests), Departure::allowed);
  EXPECT_GT(peer_.ask_again_at, now) << "one at a time asks";
  EXPECT_EQ(again(Traffic::requests), Departure::requests_refused);
}

TEST_F(Departures, ARequestThatTheWindowHoldsHasNotAsked) {
  refuse_requests(now);
  peer_.window = charge;
  EXPECT_EQ(again(Traffic::requests), Departure::peer_window);
  EXPECT_EQ(peer_.ask_again_at, now);
}

TEST(Departure, OneMayAlwaysBeInFlight) {
  Peer peer;
  EXPECT_EQ(departure_of(peer, Traffic::requests, true, charge, now), Departure::allowed);
  peer.refuses_requests = true;
  peer.ask_again_at = now;
  EXPECT_EQ(departure_of(peer, Traffic::requests, true, charge, now), Departure::allowed);
}

}  // namespace
}  // namespace gex::net::udp
