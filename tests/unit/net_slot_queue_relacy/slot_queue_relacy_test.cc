// The slot queue under an interleaving explorer: two sending and two receiving threads over one and
// two slots. The shipping algorithm must survive; variants with one seeded bug each must not, which
// shows that the exploration sees such bugs at all.

#include "net/emu/slot_queue.h"

#include "../interleavings.h"

namespace gex::net::emu {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;

struct RelacyAtomics {
  using Word = rl::atomic<std::uint64_t>;

  static rl::memory_order order(Order o) {
    if (o == Order::acquire) return rl::mo_acquire;
    return o == Order::release ? rl::mo_release : rl::mo_relaxed;
  }
  static std::uint64_t load(const Word& w, Order o) { return w(RL_INFO).load(order(o)); }
  static void store(Word& w, std::uint64_t v, Order o) { w(RL_INFO).store(v, order(o)); }
  static std::uint64_t fetch_or(Word& w, std::uint64_t v, Order o) {
    return w(RL_INFO).fetch_or(v, order(o));
  }
  static std::uint64_t fetch_and(Word& w, std::uint64_t v, Order o) {
    return w(RL_INFO).fetch_and(v, order(o));
  }
  static std::uint64_t fetch_xor(Word& w, std::uint64_t v, Order o) {
    return w(RL_INFO).fetch_xor(v, order(o));
  }
};

/// Seeded bugs of order: one of the three kinds of synchronisation is missing.
struct NoReleaseOnToggle : RelacyAtomics {
  static std::uint64_t fetch_xor(Word& w, std::uint64_t v, Order) {
    return w(RL_INFO).fetch_xor(v, rl::mo_relaxed);
  }
};
struct NoAcquireOnLoad : RelacyAtomics {
  static std::uint64_t load(const Word& w, Order) { return w(RL_INFO).load(rl::mo_relaxed); }
};
struct NoReleaseOnReleasing : RelacyAtomics {
  static std::uint64_t fetch_and(Word& w, std::uint64_t v, Order) {
    return w(RL_INFO).fetch_and(v, rl::mo_relaxed);
  }
};

/// Seeded bug: claims without the second look, so perhaps a slot that another thread has meanwhile
/// filled and handed over.
template <class Atomics>
class HastySender : public SlotSender<Atomics> {
  using Word = typename Atomics::Word;

 public:
  HastySender(Word& sent, const Word& done, Word& claimed, std::uint64_t all, bool threaded)
      : SlotSender<Atomics>(sent, done, claimed, all, threaded),
        sent_(sent),
        done_(done),
        claimed_(claimed),
        all_(all) {}
  int claim() const {
    for (;;) {
      const std::uint64_t free =
          ~(Atomics::load(sent_, Order::relaxed) ^ Atomics::load(done_, Order::acquire)) &
          ~Atomics::load(claimed_, Order::relaxed) & all_;
      if (free == 0) return no_slot;
      const std::uint64_t bit = free & (~free + 1);
      if (detail::hold<Atomics>(claimed_, bit, true)) return std::countr_zero(bit);
    }
  }

 private:
  Word& sent_;
  const Word& done_;
  Word& claimed_;
  std::uint64_t all_;
};

/// Seeded bug: takes without the second look.
template <class Atomics>
class HastyReceiver : public SlotReceiver<Atomics> {
  using Word = typename Atomics::Word;

 public:
  HastyReceiver(const Word& sent, Word& done, Word& finished, Word& taken, std::uint64_t all,
                bool threaded)
      : SlotReceiver<Atomics>(sent, done, finished, taken, all, threaded), taken_(taken) {}
  bool take(int slot) const {
    return detail::hold<Atomics>(taken_, std::uint64_t{1} << slot, true);
  }

 private:
  Word& taken_;
};

/// Seeded bug: gives the slot back before it has been read.
template <class Atomics>
class EarlyReceiver : public SlotReceiver<Atomics> {
 public:
  using SlotReceiver<Atomics>::SlotReceiver;
  bool take(int slot) const {
    if (!SlotReceiver<Atomics>::take(slot)) return false;
    SlotReceiver<Atomics>::finish(slot);
    return true;
  }
  void finish(int) const {}
};

constexpr unsigned senders = 2, receivers = 2, each = 2;

template <class Atomics, std::uint32_t slots, template <class> class Sender = SlotSender,
          template <class> class Receiver = SlotReceiver>
struct Exchange : rl::test_suite<Exchange<Atomics, slots, Sender, Receiver>, senders + receivers> {
  typename Atomics::Word sent, done, claimed, finished, taken;
  rl::var<unsigned> memory[slots];
  rl::atomic<unsigned> received;
  unsigned seen[senders * each];

  void before() {
    for (auto* word : {&sent, &done, &claimed, &finished, &taken})
      (*word)(RL_INFO).store(0, rl::mo_relaxed);
    received(RL_INFO).store(0, rl::mo_relaxed);
    for (unsigned& count : seen) count = 0;
  }

  void thread(unsigned index) {
    if (index < senders)
      send(index);
    else
      receive();
  }

  void send(unsigned index) {
    const Sender<Atomics> sender(sent, done, claimed, all_slots(slots), true);
    rl::linear_backoff wait;
    for (unsigned i = 0; i < each;) {
      const int slot = sender.claim();
      if (slot == no_slot) {
        wait.yield(RL_INFO);
        continue;
      }
      memory[slot](RL_INFO) = index * each + i++;
      sender.publish(slot);
    }
  }

  void receive() {
    const Receiver<Atomics> receiver(sent, done, finished, taken, all_slots(slots), true);
    rl::linear_backoff wait;
    while (received(RL_INFO).load(rl::mo_relaxed) < senders * each) {
      const std::uint64_t ready = receiver.ready();
      if (ready == 0) {
        wait.yield(RL_INFO);
        continue;
      }
      const int slot = std::countr_zero(ready);
      if (!receiver.take(slot)) continue;
      const unsigned item = memory[slot](RL_INFO);
      receiver.finish(slot);
      RL_ASSERT(item < senders * each);
      RL_ASSERT(++seen[item] == 1);
      received(RL_INFO).fetch_add(1, rl::mo_relaxed);
    }
  }

  void after() {
    for (const unsigned count : seen) RL_ASSERT(count == 1);
    RL_ASSERT(claimed(RL_INFO).load(rl::mo_relaxed) == 0);
    RL_ASSERT(taken(RL_INFO).load(rl::mo_relaxed) == 0);
    RL_ASSERT(sent(RL_INFO).load(rl::mo_relaxed) == done(RL_INFO).load(rl::mo_relaxed));
  }
};

TEST(SlotQueueInterleavings, OneSlotIsHandedOnCorrectly) {
  EXPECT_EQ((explore<Exchange<RelacyAtomics, 1>>()), "");
}
TEST(SlotQueueInterleavings, TwoSlotsAreHandedOnCorrectly) {
  EXPECT_EQ((explore<Exchange<RelacyAtomics, 2>>()), "");
}

TEST(SlotQueueSeededBug, AToggleWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<NoReleaseOnToggle, 1>>()));
}
TEST(SlotQueueSeededBug, ALookWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<NoAcquireOnLoad, 1>>()));
}
TEST(SlotQueueSeededBug, ReturningWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<NoReleaseOnReleasing, 2>>()));
}
TEST(SlotQueueSeededBug, AClaimWithoutTheSecondLookIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<RelacyAtomics, 1, HastySender>>()));
}
TEST(SlotQueueSeededBug, ATakeWithoutTheSecondLookIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<RelacyAtomics, 1, SlotSender, HastyReceiver>>()));
}
TEST(SlotQueueSeededBug, ASlotGivenBackBeforeItWasReadIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Exchange<RelacyAtomics, 1, SlotSender, EarlyReceiver>>()));
}

}  // namespace
}  // namespace gex::net::emu
