// The lanes of a process: which one a thread takes to a peer, when a further one is opened and
// offered, and that what comes over any of them is delivered.

#include "net/kit/lanes.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gex::net {
namespace {

constexpr std::uint32_t both = 1U << request_channel | 1U << reply_channel;
constexpr std::uint32_t peer = 1;
constexpr std::uint32_t other_peer = 2;

/// Stands for the messages of a lane.
struct Messages {
  SendResult send(Channel, std::uint32_t to, std::span<const Piece> pieces) {
    if (!pieces.empty() && has_built(pieces.back().data)) is_built = false;
    sent_to.push_back(to);
    return sent;
  }
  void* buffer(Channel, std::uint32_t, std::size_t) {
    is_built = true;
    return &place;
  }
  void release(void* payload) {
    EXPECT_TRUE(has_built(payload));
    is_built = false;
  }
  bool has_built(const void* payload) const { return is_built && payload == &place; }
  void begin_to_leave() { is_leaving = true; }
  std::size_t under_way() const { return left; }
  void advance() { --left; }
  void finish_leaving() { has_left = is_leaving; }

  std::vector<std::uint32_t> sent_to;
  std::size_t waiting = 0;   ///< messages, of which a poll delivers one
  std::uint32_t looked = 0;  ///< polls
  int place = 0;
  bool is_built = false;
  std::size_t left = 0;  ///< until everything is sent
  bool is_leaving = false;
  bool has_left = false;
};

struct TestLane {
  Messages network;
  std::map<std::uint32_t, int> met;  ///< offers, by peer
  alignas(64) std::atomic<std::uint32_t> polls{0};
};

class TestLanes final : public LaneSet<TestLanes, TestLane, int> {
 public:
  TestLanes(const Host& host, std::uint32_t count)
      : LaneSet(host, "test", count, std::make_unique<TestLane>()) {
    made[0] = &first();
  }
  ~TestLanes() = default;

  TestLane& for_messages(std::uint32_t to) {
    return over(to, [to](const TestLane& lane) { return lane.met.contains(to); });
  }
  using LaneSet::accept_offer;
  using LaneSet::drain;
  using LaneSet::if_open;
  using LaneSet::open_lanes;

  std::array<TestLane*, max_lanes> made{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> offered;  ///< lane and peer
  std::string refusal;                                           ///< of lanes to be made
  bool has_room = true;

 private:
  friend LaneSet;
  std::unique_ptr<TestLane> make(std::uint32_t number, std::string& error) {
    error = refusal;
    auto lane = std::make_unique<TestLane>();
    made[number] = lane.get();
    return lane;
  }
  bool send_offer(const TestLane& lane, std::uint32_t number, std::uint32_t to) {
    EXPECT_EQ(&lane, made[number]);
    if (has_room) offered.emplace_back(number, to);
    return has_room;
  }
  static void meet(TestLane& lane, std::uint32_t from, int offer) { lane.met[from] = offer; }
  static std::size_t poll_lane(TestLane& lane, std::uint32_t, std::size_t max) {
    Messages& messages = lane.network;
    ++messages.looked;
    if (messages.waiting == 0 || max == 0) return 0;
    --messages.waiting;
    return 1;
  }
};

using Offers = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<std::string> warnings;

class Lanes : public testing::Test {
 protected:
  static constexpr std::uint32_t count = 4;

  Lanes() {
    warnings.clear();
    host.size = 4;
    host.threaded = 1;
    host.warn = [](const char* text) { warnings.emplace_back(text); };
  }

  /// Runs this in a new thread of that number.
  void in_thread(std::uint32_t number, const std::function<void()>& body) {
    std::jthread([&] {
      lanes.enter(number);
      body();
    });
  }
  bool goes_over(std::uint32_t number, std::uint32_t to) {
    return &lanes.for_messages(to) == lanes.made[number];
  }
  void send(std::uint32_t to) { EXPECT_EQ(lanes.send(request_channel, to, {}), sent); }

  Host host{};
  TestLanes lanes{host, count};
};

TEST_F(Lanes, OfTheFirstThreadIsTheFirst) {
  in_thread(0, [&] {
    send(peer);
    lanes.poll(both, 1);
  });
  EXPECT_EQ(lanes.open_lanes().size(), 1U);
  EXPECT_EQ(lanes.first().network.sent_to.size(), 1U);
  EXPECT_EQ(lanes.first().network.looked, 1U);
  EXPECT_TRUE(lanes.offered.empty());
}

TEST_F(Lanes, AFurtherThreadOpensAndOffersItsOwnAndUsesItOncePeersOfferTheirs) {
  in_thread(2, [&] {
    EXPECT_EQ(lanes.open_lanes().size(), 1U) << "by entering alone";
    send(peer);
    EXPECT_EQ(lanes.offered, (Offers{{2, peer}}));
    EXPECT_TRUE(goes_over(0, peer)) << "until the peer answers";
    EXPECT_EQ(lanes.offered.size(), 1U) << "offered again";
    EXPECT_TRUE(lanes.accept_offer(2, peer, 7));
    EXPECT_TRUE(goes_over(2, peer));
    EXPECT_TRUE(goes_over(0, other_peer));
    send(peer);
  });
  EXPECT_EQ(lanes.open_lanes().size(), 2U);
  EXPECT_EQ(lanes.made[2]->met, (std::map<std::uint32_t, int>{{peer, 7}}));
  EXPECT_EQ(lanes.made[2]->network.sent_to.size(), 1U);
  EXPECT_EQ(lanes.offered, (Offers{{2, peer}, {2, other_peer}}));
}

TEST_F(Lanes, ThreadsBeyondTheirNumberShareThem) {
  in_thread(count, [&] { EXPECT_TRUE(goes_over(0, peer)); });
  in_thread(count + 1, [&] { send(peer); });
  EXPECT_EQ(lanes.offered, (Offers{{1, peer}}));
}

TEST_F(Lanes, AnOfferOfALaneWithoutAThreadWaitsForOne) {
  EXPECT_FALSE(lanes.accept_offer(3, peer, 7));
  EXPECT_EQ(lanes.open_lanes().size(), 1U);
  EXPECT_TRUE(lanes.offered.empty());
  in_thread(3, [&] {
    EXPECT_EQ(lanes.open_lanes().size(), 2U);
    EXPECT_TRUE(goes_over(3, peer));
  });
  EXPECT_EQ(lanes.offered, (Offers{{3, peer}}));
  EXPECT_EQ(lanes.made[3]->met, (std::map<std::uint32_t, int>{{peer, 7}}));
}

TEST_F(Lanes, AnOfferOpensALaneWithAThread) {
  in_thread(1, [] {});
  EXPECT_TRUE(lanes.accept_offer(1, peer, 7));
  EXPECT_EQ(lanes.open_lanes().size(), 2U);
  EXPECT_EQ(lanes.offered, (Offers{{1, peer}}));
}

TEST_F(Lanes, AnOfferOfALaneThatIsUnknownIsRefused) {
  EXPECT_FALSE(lanes.accept_offer(0, peer, 7));
  EXPECT_FALSE(lanes.accept_offer(count, peer, 7));
  EXPECT_FALSE(lanes.accept_offer(UINT32_MAX, peer, 7));
  lanes.if_open(1, [](TestLane&) { FAIL() << "is not open"; });
  lanes.if_open(count, [](TestLane&) { FAIL() << "is not one"; });
}

TEST_F(Lanes, AnOfferWithoutRoomIsMadeWithTheNextMessage) {
  lanes.has_room = false;
  in_thread(1, [&] {
    send(peer);
    lanes.has_room = true;
    send(peer);
    send(peer);
  });
  EXPECT_EQ(lanes.offered, (Offers{{1, peer}}));
}

TEST_F(Lanes, WhatCannotBeOpenedIsReportedOnceAndTheFirstTakesItsPlace) {
  lanes.refusal = "no more";
  for (int times = 0; times < 2; ++times)
    in_thread(1, [&] {
      send(peer);
      lanes.poll(both, 1);
    });
  EXPECT_FALSE(lanes.accept_offer(1, peer, 7));
  EXPECT_EQ(lanes.first().network.sent_to.size(), 2U);
  EXPECT_EQ(lanes.first().network.looked, 2U);
  EXPECT_TRUE(lanes.offered.empty());
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "test: a lane for further threads cannot be opened, which share the "
                          "first one: no more"}));
}

TEST_F(Lanes, WhatWasBuiltInALaneIsSentAndReleasedThere) {
  in_thread(1, [&] {
    lanes.accept_offer(1, peer, 7);
    void* const sent_place = lanes.buffer(request_channel, peer, 8);
    EXPECT_EQ(sent_place, &lanes.made[1]->network.place);
    in_thread(0, [&] {
      const Piece piece{sent_place, 8};
      lanes.send(request_channel, peer, {&piece, 1});
    });
    EXPECT_EQ(lanes.made[1]->network.sent_to.size(), 1U);
    void* const released_place = lanes.buffer(request_channel, peer, 8);
    in_thread(2, [&] { lanes.release(released_place); });
    EXPECT_FALSE(lanes.made[1]->network.is_built);
  });
}

TEST_F(Lanes, APollThatFindsNothingVisitsTheOthersInTurn) {
  in_thread(1, [&] { send(peer); });
  in_thread(2, [&] { send(peer); });
  in_thread(0, [&] {
    lanes.made[1]->network.waiting = lanes.made[2]->network.waiting = 1;
    std::size_t delivered = 0;
    for (int polls = 0; polls < 4; ++polls) delivered += lanes.poll(both, 8);
    EXPECT_EQ(delivered, 2U);
  });
}

TEST_F(Lanes, APollVisitsTheOthersAlsoWhenItsOwnIsBusy) {
  in_thread(1, [&] { send(peer); });
  in_thread(0, [&] {
    lanes.first().network.waiting = 1000;
    lanes.made[1]->network.waiting = 1;
    for (int polls = 0; polls < 100; ++polls) lanes.poll(both, 8);
    EXPECT_EQ(lanes.made[1]->network.waiting, 0U);
    EXPECT_LE(lanes.made[1]->network.looked, 100 / 16U) << "more often than is worth it";
  });
}

TEST_F(Lanes, AVisitLeavesALaneAloneThatItsThreadPolls) {
  in_thread(1, [&] { send(peer); });
  in_thread(0, [&] {
    for (int polls = 0; polls < 4; ++polls) lanes.poll(both, 8);
    const std::uint32_t looked = lanes.made[1]->network.looked;
    EXPECT_GT(looked, 0U);
    for (int polls = 0; polls < 20; ++polls) {
      in_thread(1, [&] { lanes.poll(both, 8); });
      lanes.poll(both, 8);
    }
    EXPECT_EQ(lanes.made[1]->network.looked, looked + 20);
    // A thread that only waits for replies leaves requests to others.
    in_thread(1, [&] { lanes.poll(1U << reply_channel, 8); });
    lanes.made[1]->network.waiting = 1;
    for (int polls = 0; polls < 2; ++polls) lanes.poll(both, 8);
    EXPECT_EQ(lanes.made[1]->network.waiting, 0U);
  });
}

TEST_F(Lanes, LeaveWhenNothingIsUnderWayOnAnyOfThem) {
  in_thread(1, [&] { send(peer); });
  lanes.first().network.left = 3;
  lanes.made[1]->network.left = 3;
  lanes.drain();
  for (TestLane* lane : lanes.open_lanes()) {
    EXPECT_EQ(lane->network.left, 0U);
    EXPECT_TRUE(lane->network.has_left);
  }
}

TEST(LaneCount, OfAVariableIsRefusedOutOfItsRange) {
  static std::int64_t value;
  Host host{};
  host.env_integer = [](const char*) { return value; };
  for (const std::int64_t impossible : {-1, 17}) {
    value = impossible;
    std::string error;
    wanted_lanes(host, "GEX_SOME", 16, error);
    EXPECT_EQ(error, "GEX_SOME is " + std::to_string(impossible) + "; it must be from 0 to 16");
  }
  for (const std::int64_t possible : {0, 16}) {
    value = possible;
    std::string error;
    EXPECT_EQ(wanted_lanes(host, "GEX_SOME", 16, error), possible);
    EXPECT_EQ(error, "");
  }
}

TEST(LaneCount, IsWhatIsWantedAndOneWithoutThreads) {
  Host host{};
  host.size = 1;
  host.host_of = [](std::uint32_t) { return 0U; };
  EXPECT_EQ(lane_count(host, 5), 1U);
  host.threaded = 1;
  EXPECT_EQ(lane_count(host, 5), 5U);
  EXPECT_EQ(lane_count(host, 1000), max_lanes);
  for (const std::int64_t none : {0, -3}) {
    EXPECT_GE(lane_count(host, none), 1U);
    EXPECT_LE(lane_count(host, none), 4U);
  }
  EXPECT_EQ(describe_lanes(5, "ends", "GEX_SOME"),
            "at most 5 ends for the threads of a GASNET_PAR process: GEX_SOME");
}

}  // namespace
}  // namespace gex::net
