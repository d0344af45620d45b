// The progress thread's sleep under an interleaving explorer: a message for it comes over a ring
// while a thread of the client takes messages there, in a lane that is being opened, or behind one
// of another sender's. The steps are those of am/serve.cc and core/progress_thread.cc; the bell,
// the rings and the lists of what is polled are the shipping ones. They must survive; variants with
// one seeded bug each must leave the message where it is, with the progress thread asleep for ever.

#include <cstdint>

#include "am/polled_lanes.h"
#include "shm/doorbell.h"
#include "shm/ring.h"

// After what is tested: it takes the names of the standard's memory orders.
#include "../interleavings.h"
#include "../relacy_bell.h"
#include "../relacy_ring.h"

namespace gex::am {
namespace {

using interleavings::explore;
using interleavings::is_lost_wake;
using interleavings::RelacyAtomics;
using interleavings::RelacyBell;
using Bell = shm::BasicDoorbell<RelacyBell>;

constexpr shm::RingShape small{4, 1, 1};

using TestRing = interleavings::ExploredRing<RelacyAtomics, small.cells>;

/// The end of a ring at which messages arrive, with what those that poll read of it.
struct Incoming {
  TestRing* ring = nullptr;
  rl::mutex lock;
  shm::Consumer<RelacyAtomics> consumer;
  RelacyAtomics::Word place, arrival;

  void set_up(TestRing& from) {
    ring = &from;
    consumer = {&from.control, small};
    show_next();
  }
  void show_next() {
    RelacyAtomics::store_relaxed(place, consumer.next() % small.cells);
    RelacyAtomics::store_relaxed(arrival, consumer.next() + 1);
  }
  std::uint32_t taken() { return RelacyAtomics::load_relaxed(arrival) - 1; }
  bool may_hold_message() {
    const std::uint32_t count = taken();
    return shm::may_hold_message<RelacyAtomics>(ring->ready[count % small.cells], count);
  }
  /// The word that a poll reads: only a hint.
  bool seems_full() {
    const std::uint64_t value =
        RelacyAtomics::load_relaxed(ring->ready[RelacyAtomics::load_relaxed(place)]);
    return static_cast<std::uint32_t>(value) == RelacyAtomics::load_relaxed(arrival);
  }
  /// Takes the next message; false if there is none below `end`, or another thread takes one.
  bool take(std::uint32_t& what, std::uint32_t end = small.cells) {
    if (!lock.try_lock(RL_INFO)) return false;
    const bool any =
        consumer.next() < end && consumer.arrived(ring->ready[consumer.next() % small.cells], what);
    if (any) {
      consumer.advance();
      show_next();
    }
    lock.unlock(RL_INFO);
    return any;
  }
};

constexpr std::uint32_t for_progress_thread = 7;
/// Fewer than elsewhere: each takes longer, and the seeded bugs are found in some hundred.
constexpr unsigned iterations = 15000;

/// The state that the progress thread and others share.
struct OneRing {
  TestRing ring;
  Incoming in;
  Bell bell;

  void prepare() {
    bell.clear();
    ring.reset();
    in.set_up(ring);
  }
};

/// A thread of the client takes some of the first messages of a ring and then computes. The last
/// message is the progress thread's. `exact`: that looks at the ring, and not at its inbox, before
/// it sleeps.
template <bool exact>
struct BesideAPoll : rl::test_suite<BesideAPoll<exact>, 3>, OneRing {
  static constexpr std::uint32_t messages = 3;

  void before() { prepare(); }
  void thread(unsigned index) {
    std::uint32_t what = 0;
    if (index == 0) {
      shm::PairProducer<RelacyAtomics> producer(&ring.control, small);
      for (std::uint32_t i = 0; i < messages; ++i) {
        RL_ASSERT(producer.has_room() || producer.find_reply_room());
        producer.publish(ring.ready[producer.next() % small.cells],
                         i == messages - 1 ? for_progress_thread : i);
        bell.ring();
      }
    } else if (index == 1) {
      for (std::uint32_t i = 0; i < messages - 1; ++i) in.take(what, messages - 1);
    } else {
      while (what != for_progress_thread)
        if (!in.take(what))
          bell.sleep(0, [&] { return exact ? in.may_hold_message() : in.seems_full(); });
    }
  }
};

/// A sender opens a lane by a message in the first one, and sends the progress thread's message in
/// it. A thread of the client may take the former, and computes then. `rings`: who has let a lane
/// be polled rings the bell.
template <bool rings>
struct WithALane : rl::test_suite<WithALane<rings>, 3> {
  struct Lane {
    TestRing ring;
    Incoming in;
    PolledRings<RelacyAtomics, Incoming, 1> polled;
  };
  Lane lanes[2];
  PolledLanes<RelacyAtomics, Lane, 2> all;
  Bell bell;

  void before() {
    bell.clear();
    for (Lane& lane : lanes) lane.ring.reset();
    lanes[0].in.set_up(lanes[0].ring);
    lanes[0].polled.add(lanes[0].in);
    all.put(0, lanes[0]);
  }
  template <class Visit>
  void for_each_ring(Visit visit) {
    const std::uint32_t bits = all.bits();
    for (unsigned number = 0; number < 2; ++number) {
      if ((bits >> number & 1) == 0) continue;
      const std::uint32_t count = all[number].polled.count();
      for (std::uint32_t i = 0; i < count; ++i) visit(all[number].polled[i]);
    }
  }
  /// The first message is taken once, so one thread opens the lane.
  void open() {
    Lane& lane = lanes[1];
    lane.in.set_up(lane.ring);
    all.put(1, lane);
    lane.polled.add(lane.in);
    all.add(1);
    if (rings) bell.ring();
  }
  void thread(unsigned index) {
    if (index == 0) {
      for (Lane& lane : lanes) {
        shm::PairProducer<RelacyAtomics> producer(&lane.ring.control, small);
        RL_ASSERT(producer.find_reply_room());
        producer.publish(lane.ring.ready[0], for_progress_thread);
        bell.ring();
      }
    } else if (index == 1) {
      std::uint32_t what = 0;
      if (lanes[0].in.take(what)) open();
    } else {
      bool done = false;
      while (!done) {
        bool any = false;
        for_each_ring([&](Incoming& in) {
          std::uint32_t what = 0;
          if (!in.take(what)) return;
          any = true;
          if (&in == &lanes[1].in)
            done = true;
          else
            open();
        });
        if (any) continue;
        bell.sleep(0, [&] {
          bool work = false;
          for_each_ring([&](Incoming& in) { work = work || in.may_hold_message(); });
          return work;
        });
      }
    }
  }
};

/// Two senders share a ring. One sends the progress thread's message, and rings; the other's
/// message is the client's, for which no bell rings. `waits`: there is no sleep while a cell is
/// claimed and not published.
template <bool waits>
struct BehindAnother : rl::test_suite<BehindAnother<waits>, 3>, OneRing {
  void before() { prepare(); }
  bool is_cell_awaited() { return RelacyAtomics::load_relaxed(ring.control.tail) != in.taken(); }
  void thread(unsigned index) {
    if (index < 2) {
      std::uint32_t sequence = 0;
      RL_ASSERT(shm::claim_shared(ring.control, small, sequence));
      shm::publish_shared<RelacyAtomics>(ring.ready[sequence % small.cells], sequence,
                                         index == 0 ? for_progress_thread : 0);
      if (index == 0) bell.ring();
      return;
    }
    rl::linear_backoff wait;
    for (std::uint32_t what = 0; what != for_progress_thread;) {
      if (in.take(what)) continue;
      bell.sleep(0, [&] { return in.may_hold_message() || (waits && is_cell_awaited()); });
      wait.yield(RL_INFO);
    }
  }
};

TEST(ServeInterleavings, NoMessageIsLeftBesideAPoll) {
  EXPECT_EQ((explore<BesideAPoll<true>>(iterations)), "");
}
TEST(ServeInterleavings, NoMessageIsLeftInALaneThatIsBeingOpened) {
  EXPECT_EQ((explore<WithALane<true>>(iterations)), "");
}
TEST(ServeInterleavings, NoMessageIsLeftBehindAnotherSendersCell) {
  EXPECT_EQ((explore<BehindAnother<true>>(iterations)), "");
}

TEST(ServeSeededBug, AnInboxReadWhileItChangesIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<BesideAPoll<false>>(iterations)));
}
TEST(ServeSeededBug, ALaneOpenedWithoutARingIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<WithALane<false>>(iterations)));
}
TEST(ServeSeededBug, ASleepWhileACellIsAwaitedIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<BehindAnother<false>>(iterations)));
}

}  // namespace
}  // namespace gex::am
