// The doorbell under an interleaving explorer: a thread sleeps until two others have each stored a
// few numbers for it, one after the other. The shipping algorithm must survive; variants with one
// seeded bug each must leave the thread asleep for ever.

#include "shm/doorbell.h"

#include <cstdint>
#include <utility>

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
/// Seeded bug: nor does the sleeper make its own.
struct NoOwnFence : NoFences {
  static void own_fence() {}
};
/// The sleeper has none, and the ringers have.
struct OnlyRingersHaveFence : RelacyBell {
  static bool has_fence() { return rl::thread_index() < ringers; }
  static void ringer_fence() {}
};
/// Seeded bug: the word reports that the sleeper is awake, but it is not woken.
struct NoWake : RelacyBell {
  static void wake_waiters(Word&) {}
};
/// Seeded bug: one of several sleepers is woken.
struct WakeOne : RelacyBell {
  static void wake_waiters(Word& word) { RelacyBell::wake_waiters(word, 1); }
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
    bell.clear();
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
    bell.clear();
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

/// One bell and two threads that wait, each for something of its own, of which the first comes in
/// two parts.
template <class Policy>
struct OneBellForTwo {
  BasicDoorbell<Policy> bell;
  rl::atomic<std::uint32_t> brought[2];

  void clear() {
    bell.clear();
    for (auto& each : brought) each(RL_INFO).store(0, rl::mo_relaxed);
  }
  void bring_all() {
    for (const unsigned to : {0U, 1U, 0U}) {
      const std::uint32_t before = brought[to](RL_INFO).load(rl::mo_relaxed);
      brought[to](RL_INFO).store(before + 1, rl::mo_relaxed);
      bell.ring();
    }
  }
  /// `sleep(is_there)` sleeps once.
  template <class Sleep>
  void wait_for_all(unsigned index, Sleep sleep) {
    for (std::uint32_t number = 1; number <= 2 - index; ++number) {
      const auto is_there = [&] { return brought[index](RL_INFO).load(rl::mo_relaxed) >= number; };
      while (!is_there()) sleep(is_there);
    }
  }
};

/// Both threads of a process sleep on the bell.
template <class Policy, Sleepers sleepers = Sleepers::many>
struct TwoSleepers : rl::test_suite<TwoSleepers<Policy, sleepers>, 3>, OneBellForTwo<Policy> {
  void before() { this->clear(); }
  void thread(unsigned index) {
    if (index == 2) return this->bring_all();
    this->wait_for_all(index, [&](auto is_there) { this->bell.sleep(0, is_there, sleepers); });
  }
};

/// Seeded bug: clears the mark once it has rung, so that it may clear that of a later sleep.
template <class Policy>
struct LateTake : BasicSleepMark<Policy> {
  void take() {}
  void take_late() { BasicSleepMark<Policy>::take(); }
};
/// The sleeper's fence meets a sender once, where it has published its message, and orders nothing
/// that the sender does after that.
struct OneFence : RelacyBell {
  static inline bool is_behind[3] = {};
  static void ringer_fence() {
    if (!is_behind[rl::thread_index()]) RelacyBell::ringer_fence();
  }
};
/// Seeded bug: leaves a mark alone that is set already.
struct SetOnce : OneFence {
  static void fetch_or_release(Word& word, std::uint32_t bits) {
    if ((load_relaxed(word) & bits) != bits) OneFence::fetch_or_release(word, bits);
  }
};
/// Seeded bugs of order.
struct TakeWithoutAcquire : OneFence {
  static void fetch_and_acquire(Word& word, std::uint32_t bits) {
    word(RL_INFO).fetch_and(bits, rl::mo_relaxed);
  }
};
struct SetWithoutRelease : OneFence {
  static void fetch_or_release(Word& word, std::uint32_t bits) { fetch_or_relaxed(word, bits); }
};
/// The senders learn from the mark of their ring that they are to ring.
template <class Policy, template <class> class Mark = BasicSleepMark>
struct Marked : rl::test_suite<Marked<Policy, Mark>, 3> {
  static constexpr unsigned senders = 2;
  BasicDoorbell<Policy> bell;
  Mark<Policy> mark;
  rl::atomic<std::uint32_t> brought[senders];

  void before() {
    bell.clear();
    mark.clear();
    for (auto& each : brought) each(RL_INFO).store(0, rl::mo_relaxed);
    for (bool& each : OneFence::is_behind) each = false;
  }
  void thread(unsigned index) {
    if (index == senders)
      receive();
    else
      send(brought[index]);
  }
  void send(rl::atomic<std::uint32_t>& own) {
    if (!Policy::has_fence()) mark.keep_set();
    for (std::uint32_t number = 1; number <= 2; ++number) {
      own(RL_INFO).store(number, rl::mo_relaxed);
      if (!mark.is_set()) continue;
      OneFence::is_behind[rl::thread_index()] = true;
      mark.take();
      bell.ring();
      OneFence::is_behind[rl::thread_index()] = false;
      if constexpr (requires { mark.take_late(); }) mark.take_late();
    }
  }
  void receive() {
    std::uint32_t seen[senders] = {};
    const auto look = [&](bool take) {
      bool any = false;
      for (unsigned i = 0; i < senders; ++i) {
        const std::uint32_t number = brought[i](RL_INFO).load(rl::mo_relaxed);
        any = any || number != seen[i];
        if (take) seen[i] = number;
      }
      return any;
    };
    while (seen[0] != 2 || seen[1] != 2)
      if (!look(true))
        bell.sleep(
            0, [&] { return look(false); }, Sleepers::one, [&] { mark.set(); });
  }
};

/// A thread that rings all looks first whether any sleep.
enum class Order { count_before_look, look_before_count };
template <Order order>
struct Counted : rl::test_suite<Counted<order>, 2> {
  BasicDoorbell<RelacyBell> bell;
  BasicSleeperCount<RelacyBell> count;
  rl::atomic<std::uint32_t> brought;

  void before() {
    bell.clear();
    count.clear();
    brought(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    const auto is_there = [&] { return brought(RL_INFO).load(rl::mo_relaxed) != 0; };
    if (index == 0) {
      brought(RL_INFO).store(1, rl::mo_relaxed);
      if (count.any()) bell.ring();
      return;
    }
    while (!is_there()) {
      if (order == Order::count_before_look) count.begin();
      bell.sleep(0, [&] {
        const bool any = is_there();
        if (order == Order::look_before_count) count.begin();
        return any;
      });
      count.end();
    }
  }
};

/// A barrier of three (team/barrier.cc): who arrives while another sleeps wakes it only if all have
/// arrived, for which it looks behind a fence of its own. Those of sleepers do not stand between
/// what two arriving ranks do.
enum class Fenced { no, yes };
template <Fenced fenced>
struct LastArrival : rl::test_suite<LastArrival<fenced>, 3> {
  BasicDoorbell<NoRingerFence> bell;
  rl::atomic<std::uint32_t> flags[2];

  void before() {
    bell.clear();
    for (auto& flag : flags) flag(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    const auto all = [&] {
      return flags[0](RL_INFO).load(rl::mo_acquire) + flags[1](RL_INFO).load(rl::mo_acquire) == 2;
    };
    if (index == 2) {
      while (!all()) bell.sleep(0, all);
      return;
    }
    flags[index](RL_INFO).store(1, rl::mo_release);
    if (fenced == Fenced::yes) rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO);
    if (all()) bell.ring();
  }
};

/// Seeded bug: a ring gives up where another thread begins or ends to sleep meanwhile.
struct OneTry : RelacyBell {
  static inline bool has_failed = false;
  static bool replace_relaxed(Word& word, std::uint32_t expected, std::uint32_t value) {
    has_failed = !RelacyBell::replace_relaxed(word, expected, value);
    return !has_failed;
  }
  static std::uint32_t load_relaxed(Word& word) {
    return std::exchange(has_failed, false) ? 0 : RelacyBell::load_relaxed(word);
  }
};
/// Seeded bug: who sleeps elsewhere is not woken.
struct NoWakeElsewhere : RelacyBell {
  static void wake_elsewhere(std::uint32_t) {}
};

/// Seeded bug: who gives the watch up does not wait for that to be seen.
struct NoOwnFenceOfThose : RelacyBell {
  static void own_fence() {}
};

/// As TwoSleepers, but that the first of them sleeps elsewhere.
template <class Policy>
struct OneElsewhere : rl::test_suite<OneElsewhere<Policy>, 3>, OneBellForTwo<Policy> {
  rl::atomic<std::uint32_t> woken;

  void before() {
    this->clear();
    woken(RL_INFO).store(0, rl::mo_relaxed);
    RelacyBell::elsewhere = &woken;
    OneTry::has_failed = false;
  }
  void thread(unsigned index) {
    if (index == 2) return this->bring_all();
    this->wait_for_all(index, [&](auto is_there) {
      if (index == 0)
        this->bell.sleep_elsewhere(is_there, [] { RelacyBell::sleep_elsewhere(); });
      else
        this->bell.sleep(0, is_there, Sleepers::many);
    });
  }
};

/// The watch of a network (core/network_watch.h): two threads wait, each for a message, of which
/// the network shows one that has the watch. A thread that gives it up wakes the other.
enum class Handing { rings, is_silent };
template <class Policy, Handing handing>
struct Watched : rl::test_suite<Watched<Policy, handing>, 3> {
  BasicDoorbell<Policy> bell;
  rl::atomic<std::uint32_t> taken;
  rl::atomic<std::uint32_t> brought[2];
  rl::atomic<std::uint32_t> woken;

  void before() {
    bell.clear();
    taken(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& each : brought) each(RL_INFO).store(0, rl::mo_relaxed);
    woken(RL_INFO).store(0, rl::mo_relaxed);
    RelacyBell::elsewhere = &woken;
  }
  void thread(unsigned index) {
    if (index == 2) {
      for (auto& each : brought) {
        each(RL_INFO).store(1, rl::mo_release);
        RelacyBell::wake_elsewhere(0);
      }
      return;
    }
    // What the socket holds is seen by who asks the system.
    const auto is_there = [&] { return brought[index](RL_INFO).fetch_add(0, rl::mo_acquire) != 0; };
    while (!is_there()) {
      if (taken(RL_INFO).exchange(1, rl::mo_acquire) == 0) {
        bell.sleep_elsewhere(is_there, [] { RelacyBell::sleep_elsewhere(); });
        taken(RL_INFO).store(0, rl::mo_release);
        if (handing == Handing::rings) bell.ring_for_others();
      } else {
        bell.sleep(
            0, [&] { return is_there() || taken(RL_INFO).load(rl::mo_relaxed) == 0; },
            Sleepers::many);
      }
    }
  }
};

/// One that asks to be woken elsewhere before a look, and sleeps if nothing has rung since it
/// asked.
template <class Policy>
struct Armed : rl::test_suite<Armed<Policy>, 3>, OneBellForTwo<Policy> {
  rl::atomic<std::uint32_t> woken;

  void before() {
    this->clear();
    woken(RL_INFO).store(0, rl::mo_relaxed);
    RelacyBell::elsewhere = &woken;
  }
  void thread(unsigned index) {
    if (index == 1) return;
    if (index == 2) return this->bring_all();
    this->wait_for_all(index, [&](auto) {
      woken(RL_INFO).exchange(0, rl::mo_relaxed);
      if (this->bell.arm_elsewhere()) RelacyBell::sleep_elsewhere();
    });
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
TEST(DoorbellInterleavings, NoRingIsMissedWhereThereAreNoFences) {
  EXPECT_EQ((explore<Deliveries<NoFences>>()), "");
}
TEST(DoorbellInterleavings, ALimitEndsASleepWithoutAFence) {
  EXPECT_EQ((explore<Deliveries<OnlyRingersHaveFence, BasicDoorbell, Ringing::after_store, 1>>()),
            "");
}
TEST(DoorbellInterleavings, NoRingIsMissedByEitherOfTwoSleepers) {
  EXPECT_EQ((explore<TwoSleepers<RelacyBell>>()), "");
}
TEST(DoorbellInterleavings, AMarkShowsASleeperToWhoSendsInItsRing) {
  EXPECT_EQ((explore<Marked<RelacyBell>>()), "");
  EXPECT_EQ((explore<Marked<OneFence>>()), "");
}
TEST(DoorbellInterleavings, AMarkIsNotClearedForASenderWithoutTheFence) {
  EXPECT_EQ((explore<Marked<OutsiderRings>>()), "");
}
TEST(DoorbellInterleavings, ACountOfSleepersShowsEachThatHasNotSeenTheStore) {
  EXPECT_EQ((explore<Counted<Order::count_before_look>>()), "");
}
TEST(DoorbellInterleavings, TheLastToArriveWakesThoseThatSleep) {
  EXPECT_EQ((explore<LastArrival<Fenced::yes>>()), "");
}

TEST(DoorbellInterleavings, NoRingIsMissedByEitherSleeperIfOneIsElsewhere) {
  EXPECT_EQ((explore<OneElsewhere<RelacyBell>>()), "");
}
TEST(DoorbellInterleavings, NoRingIsMissedByASleeperThatAsksForItBeforeItsLook) {
  EXPECT_EQ((explore<Armed<RelacyBell>>()), "");
}
TEST(DoorbellSeededBug, OneThatAsksWithoutAFenceIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Armed<NoSleeperFence>>()));
}
TEST(DoorbellSeededBug, ARingThatGivesUpBesideAnotherSleeperIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<OneElsewhere<OneTry>>()));
}
TEST(DoorbellSeededBug, ASleeperElsewhereThatIsNotWokenIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<OneElsewhere<NoWakeElsewhere>>()));
}
TEST(DoorbellSeededBug, NoFenceOfASleeperElsewhereIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<OneElsewhere<NoSleeperFence>>()));
}
TEST(DoorbellInterleavings, TheWatchOfANetworkIsHandedOn) {
  EXPECT_EQ((explore<Watched<RelacyBell, Handing::rings>>()), "");
}
TEST(DoorbellSeededBug, AWatchThatIsGivenUpInSilenceIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Watched<RelacyBell, Handing::is_silent>>()));
}
TEST(DoorbellSeededBug, AWatchThatIsGivenUpWithoutAFenceIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Watched<NoOwnFenceOfThose, Handing::rings>>()));
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
TEST(DoorbellSeededBug, NoFenceOfTheSleepersOwnIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<NoOwnFence>>()));
}
TEST(DoorbellSeededBug, ASleepWithoutLimitAndFenceIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Deliveries<OnlyRingersHaveFence>>()));
}
TEST(DoorbellSeededBug, ASleeperThatTakesItselfForTheOnlyOneIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<TwoSleepers<RelacyBell, Sleepers::one>>()));
}
TEST(DoorbellSeededBug, AWakeOfOneOfTwoIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<TwoSleepers<WakeOne>>()));
}
TEST(DoorbellSeededBug, AMarkThatIsClearedBehindTheRingIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Marked<RelacyBell, LateTake>>()));
}
TEST(DoorbellSeededBug, AMarkThatIsNotSetAgainIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Marked<SetOnce>>()));
}
TEST(DoorbellSeededBug, AMarkWithoutTheFenceOfTheSenderIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Marked<NoRingerFence>>()));
}
TEST(DoorbellSeededBug, AMarkWithoutTheFenceOfTheSleeperIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Marked<NoSleeperFence>>()));
}
TEST(DoorbellSeededBug, AMarkThatOrdersNothingIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Marked<TakeWithoutAcquire>>()));
  EXPECT_TRUE(is_lost_wake(explore<Marked<SetWithoutRelease>>()));
}
TEST(DoorbellSeededBug, ACountBehindTheLookIsCaught) {
  EXPECT_TRUE(is_lost_wake(explore<Counted<Order::look_before_count>>()));
}
TEST(DoorbellSeededBug, TwoLastArrivalsWithoutAFenceAreCaught) {
  EXPECT_TRUE(is_lost_wake(explore<LastArrival<Fenced::no>>()));
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
