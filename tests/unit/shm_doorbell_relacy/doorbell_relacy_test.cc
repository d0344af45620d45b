// The doorbell under an interleaving explorer: a thread sleeps until two others have each stored a
// few numbers for it, one after the other. The shipping algorithm must survive; variants with one
// seeded bug each must leave the thread asleep for ever.

#include "shm/doorbell.h"

#include <cstdint>

#include "../interleavings.h"
#include "../relacy_bell.h"

namespace gex::shm {
namespace {

using interleavings::explore;
using interleavings::is_lost_wake;
using interleavings::NoRingerFence;
using interleavings::NoSleeperFence;
using interleavings::RelacyBell;

constexpr unsigned ringers = 2;
constexpr std::uint32_t numbers = 3;
constexpr unsigned sleeper = ringers;

/// The last ringer belongs to a process that the sleeper's fences do not include.
struct OutsiderRings : RelacyBell {
  static bool has_fence() { return rl::thread_index() != ringers - 1; }
};
/// Nor does its own look wait for what it has stored.
struct OutsiderWithoutFence : OutsiderRings {
  static void ringer_fence() {
    if (has_fence()) OutsiderRings::ringer_fence();
  }
  static std::uint32_t load_behind_fence(Word& word) { return load_relaxed(word); }
};
/// There are no such fences at all.
struct NoFences : RelacyBell {
  static bool has_fence() { return false; }
  static void ringer_fence() {}
};
/// Seeded bug: the word reports that the sleeper is awake, but it is not woken.
struct NoWake : RelacyBell {
  static void wake_waiters(Word&) {}
};

/// Seeded bug: looks for work before it notes that it sleeps.
template <class Policy>
struct EarlyLook : BasicDoorbell<Policy> {
  template <class HasWork>
  void sleep(std::uint64_t limit_ns, HasWork has_work) {
    const bool any = has_work();
    BasicDoorbell<Policy>::sleep(limit_ns, [any] { return any; });
  }
};
/// Seeded bug: one that rings before it has stored what it rings for.
enum class Ringing { after_store, before_store };

template <class Policy, template <class> class Bell = BasicDoorbell,
          Ringing ringing = Ringing::after_store, std::uint64_t limit_ns = 0>
struct Deliveries : rl::test_suite<Deliveries<Policy, Bell, ringing, limit_ns>, ringers + 1> {
  Bell<Policy> bell;
  /// Relaxed, all of it: the bell orders what is stored before its own word.
  rl::atomic<std::uint32_t> brought[ringers];

  void before() {
    // The memory of a bell is zero before its first use.
    bell.sleep(0, [] { return true; });
    for (auto& each : brought) each(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    if (index == sleeper)
      receive();
    else
      bring(brought[index]);
  }
  void bring(rl::atomic<std::uint32_t>& own) {
    for (std::uint32_t number = 1; number <= numbers; ++number) {
      if (ringing == Ringing::before_store) bell.ring();
      own(RL_INFO).store(number, rl::mo_relaxed);
      if (ringing == Ringing::after_store) bell.ring();
    }
  }
  void receive() {
    std::uint32_t seen[ringers] = {};
    const auto look = [&](bool take) {
      bool any = false;
      for (unsigned i = 0; i < ringers; ++i) {
        const std::uint32_t number = brought[i](RL_INFO).load(rl::mo_relaxed);
        any = any || number != seen[i];
        if (take) seen[i] = number;
      }
      return any;
    };
    while (seen[0] != numbers || seen[1] != numbers)
      if (!look(true)) bell.sleep(limit_ns, [&] { return look(false); });
  }
};

/// Seeded bug: looks for the bell before what is rung for is seen.
template <class Policy>
class HastyPlace {
 public:
  void set(BasicDoorbell<Policy>& bell) { Policy::store_release(bell_, &bell); }
  void ring() {
    if (BasicDoorbell<Policy>* const bell = Policy::load_acquire(bell_)) bell->ring();
  }

 private:
  typename Policy::template Pointer<BasicDoorbell<Policy>> bell_{nullptr};
};

/// A sleeper whose bell becomes known while another thread stores something.
template <template <class> class Place = BasicBellPlace>
struct Beginning : rl::test_suite<Beginning<Place>, 2> {
  BasicDoorbell<RelacyBell> bell;
  Place<RelacyBell> place;
  rl::atomic<std::uint32_t> brought;

  void before() {
    bell.sleep(0, [] { return true; });
    brought(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    const auto is_there = [&] { return brought(RL_INFO).load(rl::mo_relaxed) != 0; };
    if (index == 0) {
      brought(RL_INFO).store(1, rl::mo_relaxed);
      place.ring();
    } else {
      place.set(bell);
      while (!is_there()) bell.sleep(0, is_there);
    }
  }
};

TEST(DoorbellInterleavings, NoRingIsMissedByASleeperThatBegins) {
  EXPECT_EQ((explore<Beginning<>>()), "");
}
TEST(DoorbellSeededBug, ALookForTheBellBeforeTheStoreIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Beginning<HastyPlace>>()));
}

TEST(DoorbellInterleavings, NoRingIsMissed) {
  EXPECT_EQ((explore<Deliveries<RelacyBell>>()), "");
}
TEST(DoorbellInterleavings, NoRingOfAProcessWithoutTheFenceIsMissed) {
  EXPECT_EQ((explore<Deliveries<OutsiderRings>>()), "");
}
TEST(DoorbellInterleavings, ALimitEndsASleepWithoutFences) {
  EXPECT_EQ((explore<Deliveries<NoFences, BasicDoorbell, Ringing::after_store, 1>>()), "");
}

TEST(DoorbellSeededBug, NoFenceOfTheSleeperIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<NoSleeperFence>>()));
}
TEST(DoorbellSeededBug, NoFenceOfARingerIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<NoRingerFence>>()));
}
TEST(DoorbellSeededBug, NoFenceOfAnOutsiderIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<OutsiderWithoutFence>>()));
}
TEST(DoorbellSeededBug, ASleepWithoutLimitAndFencesIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<NoFences>>()));
}
TEST(DoorbellSeededBug, ALookBeforeTheNoteIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<RelacyBell, EarlyLook>>()));
}
TEST(DoorbellSeededBug, ARingBeforeTheStoreIsCaught) {
  EXPECT_TRUE(
      is_lost_wake(explore<Deliveries<RelacyBell, BasicDoorbell, Ringing::before_store>>()));
}
TEST(DoorbellSeededBug, AWordWithoutAWakeIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<NoWake>>()));
}

}  // namespace
}  // namespace gex::shm
