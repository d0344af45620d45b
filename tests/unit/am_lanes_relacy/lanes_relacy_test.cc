// The opening of a lane under an interleaving explorer. Two processes each open lane 1 to the other
// and send a request in it, which is answered: one process has one thread, the other a thread that
// sends and one that only polls, and may be the one that is informed. The steps are those of
// am/links.cc and am/to_neighbor.cc; lists, bits and rings are the shipping ones. They must
// survive; variants with one seeded bug each must not.

#include "am/polled_lanes.h"

#include <cstdint>

#include "shm/ring.h"

// After what is tested: it takes the names of the standard's memory orders.
#include "../interleavings.h"
#include "../relacy_ring.h"

namespace gex::am {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;
using interleavings::NoAcquire;
using interleavings::RelacyAtomics;

constexpr shm::RingShape small{2, 1, 1};
enum Kind : std::uint32_t { opened = 1, request, reply };
enum Direction : unsigned { requests, replies };

using SharedRing = interleavings::ExploredRing<RelacyAtomics, small.cells>;

/// The ends of a ring as a process has them: `is_set_up` is read by each use, so a use before it is
/// a race.
struct Incoming {
  rl::mutex lock;
  rl::var<bool> is_set_up;
  SharedRing* ring = nullptr;
  shm::Consumer<RelacyAtomics> consumer;

  void set_up(SharedRing& from) {
    is_set_up(RL_INFO) = true;
    ring = &from;
    consumer = {&from.control, small};
  }
};
struct Outgoing {
  rl::mutex lock;
  rl::var<bool> is_set_up;
  SharedRing* ring = nullptr;
  shm::PairProducer<RelacyAtomics> producer;

  void set_up(SharedRing& to) {
    is_set_up(RL_INFO) = true;
    ring = &to;
    producer = {&to.control, small};
  }
};

/// Seeded bugs of order.
struct NoReleaseOfALane : RelacyAtomics {
  static void fetch_or_release(Word& word, std::uint32_t bits) {
    word(RL_INFO).fetch_or(bits, rl::mo_relaxed);
  }
};
struct NoReleaseOfARing : RelacyAtomics {
  static void store_release(Word& word, std::uint32_t value) { store_relaxed(word, value); }
};

/// When a process does what a thread that polls depends on.
enum class Order {
  as_it_must,
  bit_first,   ///< the lane's bit before the lane is put
  list_first,  ///< a ring is polled before it is set up
  no_mutex,    ///< two threads let a lane be polled at once
};

template <class Atomics, Order order>
struct Process {
  struct Lane {
    rl::var<bool> is_set_up;
    Incoming incoming[2];
    Outgoing out[2];
    bool polls[2] = {};
    PolledRings<Atomics, Incoming, 4> polled;
  };
  Lane lanes[2];
  PolledLanes<Atomics, Lane, 2> all;
  rl::mutex mutex;
  bool has_further = false;

  /// Lane 0 is whole from the start.
  void set_up(SharedRing (&in)[2][2], SharedRing (&out)[2][2]) {
    lanes[0].is_set_up(RL_INFO) = true;
    all.put(0, lanes[0]);
    for (const Direction direction : {requests, replies}) {
      lanes[0].incoming[direction].set_up(in[0][direction]);
      lanes[0].out[direction].set_up(out[0][direction]);
      lanes[0].polled.add(lanes[0].incoming[direction]);
    }
  }

  /// Links::expect_replies and expect_requests: what arrives in one direction is polled, and what
  /// is sent in the other may be. Once for each direction, however often it is called.
  void expect(Direction direction, SharedRing (&in)[2][2], SharedRing (&out)[2][2]) {
    if (order != Order::no_mutex) mutex.lock(RL_INFO);
    Lane& lane = lanes[1];
    if (order == Order::bit_first) all.add(1);
    if (!has_further) {
      has_further = true;
      lane.is_set_up(RL_INFO) = true;
      all.put(1, lane);
    }
    if (!lane.polls[direction]) {
      lane.polls[direction] = true;
      const Direction other = direction == requests ? replies : requests;
      lane.out[other].set_up(out[1][other]);
      if (order != Order::list_first) lane.incoming[direction].set_up(in[1][direction]);
      lane.polled.add(lane.incoming[direction]);
      if (order == Order::list_first) lane.incoming[direction].set_up(in[1][direction]);
      all.add(1);
    }
    if (order != Order::no_mutex) mutex.unlock(RL_INFO);
  }

  bool send(unsigned lane, Direction direction, Kind kind) {
    Outgoing& to = lanes[lane].out[direction];
    to.lock.lock(RL_INFO);
    RL_ASSERT(to.is_set_up(RL_INFO));
    const bool room = to.producer.has_room() || to.producer.find_reply_room();
    if (room) to.producer.publish(to.ring->ready[to.producer.next() % small.cells], kind);
    to.lock.unlock(RL_INFO);
    return room;
  }
  /// Takes what has arrived in a ring, one message; 0: none.
  std::uint32_t take(Incoming& in) {
    if (!in.lock.try_lock(RL_INFO)) return 0;
    RL_ASSERT(in.is_set_up(RL_INFO));
    std::uint32_t what = 0;
    const bool any = in.consumer.arrived(in.ring->ready[in.consumer.next() % small.cells], what);
    if (any) in.consumer.advance();
    in.lock.unlock(RL_INFO);
    return any ? what : 0;
  }
  /// Calls `handle(kind)` for each message that it takes.
  template <class Handle>
  void poll(Handle handle) {
    const std::uint32_t bits = all.bits();
    for (unsigned number = 0; number < 2; ++number) {
      if ((bits >> number & 1) == 0) continue;
      Lane& lane = all[number];
      RL_ASSERT(lane.is_set_up(RL_INFO));
      const std::uint32_t rings = lane.polled.count();
      for (std::uint32_t i = 0; i < rings; ++i)
        if (const std::uint32_t kind = take(lane.polled[i])) handle(kind);
    }
  }
};

constexpr unsigned threads = 3;
/// Each process is informed, and handles a request and a reply.
constexpr std::uint32_t all_handled = 2 * 3;

template <class Atomics, Order order = Order::as_it_must>
struct Opening : rl::test_suite<Opening<Atomics, order>, threads> {
  using Side = Process<Atomics, order>;
  Side sides[2];
  SharedRing to[2][2][2];  ///< by process, lane, direction
  rl::atomic<std::uint32_t> handled;

  void before() {
    for (auto& process : to)
      for (auto& lane : process)
        for (SharedRing& ring : lane) ring.reset();
    for (unsigned side = 0; side < 2; ++side) sides[side].set_up(to[side], to[1 - side]);
    handled(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    const unsigned side = index == 0 ? 0 : 1;
    Side& own = sides[side];
    const auto handle = [&](std::uint32_t kind) {
      if (kind == opened) own.expect(requests, to[side], to[1 - side]);
      if (kind == request) RL_ASSERT(own.send(1, replies, reply));
      handled(RL_INFO).fetch_add(1, rl::mo_relaxed);
    };
    bool sends = index != 2;
    bool is_open = false;
    rl::linear_backoff wait;
    while (handled(RL_INFO).load(rl::mo_relaxed) < all_handled) {
      if (sends && !is_open) {
        own.expect(replies, to[side], to[1 - side]);
        // There may be no room in lane 0 now: then all of it is done again.
        is_open = rl::rand(2) != 0 && own.send(0, requests, opened);
      }
      if (sends && is_open) sends = !own.send(1, requests, request);
      own.poll(handle);
      wait.yield(RL_INFO);
    }
  }
};

TEST(LanesInterleavings, ARequestInALaneThatIsBeingOpenedIsAnswered) {
  EXPECT_EQ((explore<Opening<RelacyAtomics>>()), "");
}

TEST(LanesSeededBug, NoReleaseOfALaneIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<NoReleaseOfALane>>()));
}
TEST(LanesSeededBug, NoReleaseOfARingIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<NoReleaseOfARing>>()));
}
TEST(LanesSeededBug, NoAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<NoAcquire>>()));
}
TEST(LanesSeededBug, ABitBeforeItsLaneIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<RelacyAtomics, Order::bit_first>>()));
}
TEST(LanesSeededBug, ARingPolledBeforeItIsSetUpIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<RelacyAtomics, Order::list_first>>()));
}
TEST(LanesSeededBug, TwoThreadsThatOpenALaneAtOnceAreCaught) {
  EXPECT_TRUE(is_the_bug(explore<Opening<RelacyAtomics, Order::no_mutex>>()));
}

}  // namespace
}  // namespace gex::am
