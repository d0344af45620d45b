// Events under an interleaving explorer: one thread initiates an operation of two parts, two
// threads complete a part each, a fourth finds it complete, and the same object serves the next
// operation. The shipping code must survive; variants with one seeded bug each must not.

#include "core/completion.h"

#include "../interleavings.h"
#include "../relacy_atomics.h"

namespace gex {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;

struct EventAtomics : interleavings::RelacyAtomics {
  static void add_release(Word& word, std::uint32_t value) {
    word(RL_INFO).fetch_add(value, rl::mo_release);
  }
};

/// Seeded bugs of order.
struct NoRelease : EventAtomics {
  static void add_release(Word& word, std::uint32_t value) {
    word(RL_INFO).fetch_add(value, rl::mo_relaxed);
  }
};
struct NoAcquire : EventAtomics {
  static std::uint32_t load_acquire(const Word& word) { return word(RL_INFO).load(rl::mo_relaxed); }
};
/// Seeded bug: a part is counted by reading and writing.
struct NoAtomicAdd : EventAtomics {
  static void add_release(Word& word, std::uint32_t value) {
    const std::uint32_t seen = word(RL_INFO).load(rl::mo_relaxed);
    word(RL_INFO).store(seen + value, rl::mo_release);
  }
};

/// Seeded bug: a generation begins with what the one before has counted.
template <class Atomics>
struct NeverCleared : BasicEvent<Atomics> {
  void begin() {
    if (Atomics::read(this->generation) == 0) BasicEvent<Atomics>::begin();
  }
};
/// Seeded bug: the next operation has the same handle.
template <class Atomics>
struct OneGeneration : BasicEvent<Atomics> {
  void end() {}
};

/// How the initiator counts.
enum class Counting {
  before,    ///< as it must
  too_late,  ///< after the handle was given out
  too_few,   ///< a part less than there are
};
/// When the consumer gives the object back.
enum class Consuming { complete, hasty };

constexpr unsigned parts = 2;
constexpr unsigned generations = 2;
constexpr unsigned initiator = 0, consumer = 1 + parts;

template <class Atomics, template <class> class EventType = BasicEvent,
          Counting counting = Counting::before, Consuming consuming = Consuming::complete>
struct Lives : rl::test_suite<Lives<Atomics, EventType, counting, consuming>, 2 + parts> {
  EventType<Atomics> event;
  rl::var<std::uint16_t> handle;
  rl::var<unsigned> effect[parts];
  /// Numbers of the generation: sent to the completers, given to the consumer, and back (which is
  /// the free list's lock).
  rl::atomic<unsigned> sent, given, returned;

  void before() {
    Atomics::write(event.generation, std::uint16_t{0});
    for (auto* word : {&sent, &given, &returned}) (*word)(RL_INFO).store(0, rl::mo_relaxed);
  }
  static void await(rl::atomic<unsigned>& word, unsigned number) {
    rl::linear_backoff wait;
    while (word(RL_INFO).load(rl::mo_acquire) < number) wait.yield(RL_INFO);
  }
  void thread(unsigned index) {
    for (unsigned number = 1; number <= generations; ++number) {
      if (index == initiator)
        initiate(number);
      else if (index == consumer)
        consume(number);
      else
        complete(index - 1, number);
    }
  }
  void initiate(unsigned number) {
    await(returned, number - 1);
    event.begin();
    const auto count = [this] {
      Atomics::write(event.counters.initiated[ec_put],
                     std::uint32_t{counting == Counting::too_few ? parts - 1 : parts});
    };
    if (counting != Counting::too_late) count();
    handle(RL_INFO) = Atomics::read(event.generation);
    sent(RL_INFO).store(number, rl::mo_release);
    given(RL_INFO).store(number, rl::mo_release);
    if (counting == Counting::too_late) count();
  }
  void complete(unsigned part, unsigned number) {
    await(sent, number);
    effect[part](RL_INFO) = number;
    complete_parts<Atomics>(event.counters.completed[ec_put], 1);
  }
  void consume(unsigned number) {
    await(given, number);
    const std::uint16_t current = handle(RL_INFO);
    RL_ASSERT(event.is_current(current));
    // The handle of the operation before must not be taken for this one's.
    if (number > 1) RL_ASSERT(!event.is_current(static_cast<std::uint16_t>(current - 1)));
    rl::linear_backoff wait;
    while (consuming == Consuming::complete && !event.counters.all_done()) wait.yield(RL_INFO);
    for (auto& each : effect) RL_ASSERT(each(RL_INFO) == number);
    event.end();
    RL_ASSERT(!event.is_current(current));
    returned(RL_INFO).store(number, rl::mo_release);
  }
};

TEST(EventInterleavings, OneObjectServesOneOperationAfterTheOther) {
  EXPECT_EQ((explore<Lives<EventAtomics>>()), "");
}

TEST(EventSeededBug, CompletionWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Lives<NoRelease>>()));
}
TEST(EventSeededBug, ALookWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Lives<NoAcquire>>()));
}
TEST(EventSeededBug, PartsCountedTooLateAreCaught) {
  EXPECT_TRUE(is_the_bug(explore<Lives<EventAtomics, BasicEvent, Counting::too_late>>()));
}
TEST(EventSeededBug, AnEventConsumedBeforeItIsCompleteIsCaught) {
  EXPECT_TRUE(
      is_the_bug(explore<Lives<EventAtomics, BasicEvent, Counting::before, Consuming::hasty>>()));
}
TEST(EventSeededBug, AGenerationThatDoesNotEndIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Lives<EventAtomics, OneGeneration>>()));
}

// A miscount shows as an event that is complete too early, or is never complete: here even a test
// that gets stuck has found it, since the shipping code never does.
TEST(EventSeededBug, APartThatIsNotCountedIsCaught) {
  EXPECT_NE((explore<Lives<EventAtomics, BasicEvent, Counting::too_few>>()), "");
}
TEST(EventSeededBug, AGenerationThatIsNotClearedIsCaught) {
  EXPECT_NE((explore<Lives<EventAtomics, NeverCleared>>()), "");
}
TEST(EventSeededBug, PartsCountedWithoutAnAtomicAddAreCaught) {
  EXPECT_NE((explore<Lives<NoAtomicAdd>>()), "");
}

}  // namespace
}  // namespace gex
