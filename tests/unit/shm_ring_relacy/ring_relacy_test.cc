// The rings under an interleaving explorer: a pair ring, a shared ring with two producers, and a
// requester whose replies must find room though it does not look at them. The shipping algorithm
// must survive; variants with one seeded bug each must not.

#include "shm/ring.h"

#include <type_traits>

#include "../interleavings.h"
#include "../relacy_ring.h"

namespace gex::shm {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;
using interleavings::NoAcquire;
using interleavings::NoRelease;
using interleavings::RelacyAtomics;

constexpr RingShape small{2, 1, 1};
static_assert(is_sound(small));

template <class Atomics>
struct TestRing : interleavings::ExploredRing<Atomics, small.cells> {
  rl::var<unsigned> content[small.cells];
};

/// Takes the next message if it has arrived.
template <class Atomics>
bool take(TestRing<Atomics>& ring, Consumer<Atomics>& consumer, unsigned& value) {
  const std::uint32_t at = consumer.next() % small.cells;
  std::uint32_t what = 0;
  if (!consumer.arrived(ring.ready[at], what)) return false;
  value = ring.content[at](RL_INFO);
  // Half of a message comes with its ready word.
  RL_ASSERT(what == value);
  consumer.advance();
  return true;
}

constexpr unsigned messages = 5;

/// One producer, one consumer. `careful`: a cell is claimed only when there is room.
template <class Atomics, bool careful = true>
struct PairExchange : rl::test_suite<PairExchange<Atomics, careful>, 2> {
  TestRing<Atomics> ring;
  unsigned received;

  void before() {
    ring.reset();
    received = 0;
  }
  void thread(unsigned index) {
    rl::linear_backoff wait;
    if (index == 0) {
      PairProducer<Atomics> producer(&ring.control, small);
      for (unsigned i = 0; i < messages;) {
        if (careful && !producer.has_room() && !producer.find_reply_room()) {
          wait.yield(RL_INFO);
          continue;
        }
        const std::uint32_t at = producer.next() % small.cells;
        ring.content[at](RL_INFO) = i;
        producer.publish(ring.ready[at], i++);
      }
      return;
    }
    Consumer<Atomics> consumer(&ring.control, small);
    while (received < messages) {
      unsigned value = 0;
      if (!take(ring, consumer, value)) {
        wait.yield(RL_INFO);
        continue;
      }
      RL_ASSERT(value == received);
      ++received;
    }
  }
  void after() { RL_ASSERT(received == messages); }
};

/// Two producers, one consumer. `careful`: as above, without looking at `released`.
template <class Atomics, bool careful = true>
struct SharedExchange : rl::test_suite<SharedExchange<Atomics, careful>, 3> {
  static constexpr unsigned each = 3;
  TestRing<Atomics> ring;
  unsigned seen[2 * each];
  unsigned received;

  void before() {
    ring.reset();
    received = 0;
    for (unsigned& count : seen) count = 0;
  }
  static bool claim(RingControl<Atomics>& control, std::uint32_t& sequence) {
    if (careful) return claim_shared(control, small, sequence);
    std::uint32_t tail = Atomics::load_relaxed(control.tail);
    while (!Atomics::exchange_if_equal(control.tail, tail, tail + 1)) {
    }
    sequence = tail;
    return true;
  }
  void thread(unsigned index) {
    rl::linear_backoff wait;
    if (index < 2) {
      for (unsigned i = 0; i < each;) {
        std::uint32_t sequence = 0;
        if (!claim(ring.control, sequence)) {
          wait.yield(RL_INFO);
          continue;
        }
        const std::uint32_t at = sequence % small.cells;
        const unsigned value = index * each + i++;
        ring.content[at](RL_INFO) = value;
        publish_shared<Atomics>(ring.ready[at], sequence, value);
      }
      return;
    }
    Consumer<Atomics> consumer(&ring.control, small);
    while (received < 2 * each) {
      unsigned value = 0;
      if (!take(ring, consumer, value)) {
        wait.yield(RL_INFO);
        continue;
      }
      RL_ASSERT(value < 2 * each);
      RL_ASSERT(++seen[value] == 1);
      ++received;
    }
  }
  void after() {
    for (const unsigned count : seen) RL_ASSERT(count == 1);
  }
};

/// A requester that looks at replies only when it cannot send, and a server that answers every
/// second request and must find room for each reply at once.
/// `reserving`: requests are held to the window of replies.
template <class Atomics, bool reserving = true>
struct Reservation : rl::test_suite<Reservation<Atomics, reserving>, 2> {
  TestRing<Atomics> requests;
  TestRing<Atomics> replies;
  rl::atomic<unsigned> finished;

  void before() {
    requests.reset();
    replies.reset();
    finished(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    if (index == 0)
      request();
    else
      serve();
  }
  void request() {
    rl::linear_backoff wait;
    PairProducer<Atomics> producer(&requests.control, small);
    Consumer<Atomics> answers(&replies.control, small);
    unsigned answered = 0;
    for (unsigned i = 0; i < messages;) {
      const bool room = producer.has_room() || (reserving ? producer.find_request_room(answered)
                                                          : producer.find_reply_room());
      if (!room) {
        unsigned value = 0;
        if (take(replies, answers, value))
          ++answered;
        else
          wait.yield(RL_INFO);
        continue;
      }
      const std::uint32_t at = producer.next() % small.cells;
      requests.content[at](RL_INFO) = i;
      producer.publish(requests.ready[at], i++);
    }
  }
  void serve() {
    rl::linear_backoff wait;
    Consumer<Atomics> consumer(&requests.control, small);
    PairProducer<Atomics> answers(&replies.control, small);
    std::uint32_t unanswered = 0;
    for (unsigned i = 0; i < messages;) {
      unsigned value = 0;
      if (!take(requests, consumer, value)) {
        wait.yield(RL_INFO);
        continue;
      }
      ++i;
      if (value % 2 != 0) {
        Atomics::store_relaxed(requests.control.unanswered, ++unanswered);
        continue;
      }
      RL_ASSERT(answers.has_room() || answers.find_reply_room());
      const std::uint32_t at = answers.next() % small.cells;
      replies.content[at](RL_INFO) = value;
      answers.publish(replies.ready[at], value);
    }
  }
};

/// Requests that end without a reply in two threads, and a third that reports them: what is not
/// reported in the end is known to be owed.
template <class Atomics>
struct Owing : rl::test_suite<Owing<Atomics>, 3> {
  static constexpr unsigned each = 2;
  typename Atomics::Word owed;
  typename Atomics::Flag owes;
  unsigned reported;

  void before() {
    owed(RL_INFO).store(0, rl::mo_relaxed);
    owes(RL_INFO).store(false, rl::mo_relaxed);
    reported = 0;
  }
  void report() {
    report_owed<Atomics>(
        owes, 1, [this](std::uint32_t) -> typename Atomics::Word& { return owed; },
        [this](std::uint32_t, std::uint32_t count) { reported += count; });
  }
  void thread(unsigned index) {
    for (unsigned i = 0; i < each; ++i) {
      if (index < 2)
        owe<Atomics>(owed, owes);
      else
        report();
    }
  }
  void after() {
    const std::uint32_t left = owed(RL_INFO).exchange(0, rl::mo_relaxed);
    RL_ASSERT(reported + left == 2 * each);
    RL_ASSERT(left == 0 || owes(RL_INFO).exchange(false, rl::mo_relaxed));
  }
};
/// Seeded bug: the flag is stored, which hides that another thread has set it.
struct StoredFlag : RelacyAtomics {
  static bool exchange_release(Flag& flag, bool value) {
    flag(RL_INFO).store(value, rl::mo_release);
    return false;
  }
};
/// Seeded bugs of its order.
struct NoReleaseOfTheFlag : RelacyAtomics {
  static bool exchange_release(Flag& flag, bool value) {
    return flag(RL_INFO).exchange(value, rl::mo_relaxed);
  }
};
struct NoAcquireOfTheFlag : RelacyAtomics {
  static bool exchange_acquire(Flag& flag, bool value) {
    return flag(RL_INFO).exchange(value, rl::mo_relaxed);
  }
};

/// Payloads travel in two buffers beside a ring. `careful`: one is given back after it was read.
template <class Atomics, bool careful = true>
struct Buffers : rl::test_suite<Buffers<Atomics, careful>, 2> {
  static constexpr unsigned count = 2;
  TestRing<RelacyAtomics> ring;
  typename Atomics::Word busy[count];
  rl::var<unsigned> payload[count];

  void before() {
    ring.reset();
    for (auto& word : busy) word(RL_INFO).store(0, rl::mo_relaxed);
  }
  void thread(unsigned index) {
    rl::linear_backoff wait;
    if (index == 0) {
      PairProducer<RelacyAtomics> producer(&ring.control, small);
      for (unsigned i = 0; i < messages;) {
        unsigned buffer = 0;
        while (buffer < count && !is_buffer_free<Atomics>(busy[buffer])) ++buffer;
        if (buffer == count || (!producer.has_room() && !producer.find_reply_room())) {
          wait.yield(RL_INFO);
          continue;
        }
        take_buffer<Atomics>(busy[buffer]);
        payload[buffer](RL_INFO) = i++;
        const std::uint32_t at = producer.next() % small.cells;
        ring.content[at](RL_INFO) = buffer;
        producer.publish(ring.ready[at], buffer);
      }
      return;
    }
    Consumer<RelacyAtomics> consumer(&ring.control, small);
    for (unsigned i = 0; i < messages;) {
      unsigned buffer = 0;
      if (!take(ring, consumer, buffer)) {
        wait.yield(RL_INFO);
        continue;
      }
      if (!careful) give_buffer_back<Atomics>(busy[buffer]);
      RL_ASSERT(payload[buffer](RL_INFO) == i);
      if (careful) give_buffer_back<Atomics>(busy[buffer]);
      ++i;
    }
  }
};

TEST(RingInterleavings, WhatIsOwedIsReportedOrKnown) {
  EXPECT_EQ((explore<Owing<RelacyAtomics>>()), "");
}
TEST(RingInterleavings, ABufferIsWrittenOnceItWasRead) {
  EXPECT_EQ((explore<Buffers<RelacyAtomics>>()), "");
}
TEST(RingSeededBug, AFlagThatIsStoredIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Owing<StoredFlag>>()));
}
TEST(RingSeededBug, AFlagWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Owing<NoReleaseOfTheFlag>>()));
}
TEST(RingSeededBug, AFlagWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Owing<NoAcquireOfTheFlag>>()));
}
TEST(RingSeededBug, ABufferGivenBackWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Buffers<NoRelease>>()));
}
TEST(RingSeededBug, ABufferTakenWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Buffers<NoAcquire>>()));
}
TEST(RingSeededBug, ABufferGivenBackBeforeItWasReadIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<Buffers<RelacyAtomics, false>>()));
}

TEST(RingInterleavings, APairRingHandsOnInOrder) {
  EXPECT_EQ((explore<PairExchange<RelacyAtomics>>()), "");
}
TEST(RingInterleavings, ASharedRingHandsOnEachMessageOnce) {
  EXPECT_EQ((explore<SharedExchange<RelacyAtomics>>()), "");
}
TEST(RingInterleavings, AReplyAlwaysFindsRoom) {
  EXPECT_EQ((explore<Reservation<RelacyAtomics>>()), "");
}

TEST(RingSeededBug, APairRingWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<PairExchange<NoRelease>>()));
}
TEST(RingSeededBug, APairRingWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<PairExchange<NoAcquire>>()));
}
TEST(RingSeededBug, APairRingClaimWithoutRoomIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<PairExchange<RelacyAtomics, false>>()));
}
TEST(RingSeededBug, ASharedRingWithoutReleaseIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<SharedExchange<NoRelease>>()));
}
TEST(RingSeededBug, ASharedRingWithoutAcquireIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<SharedExchange<NoAcquire>>()));
}
TEST(RingSeededBug, ASharedRingClaimWithoutRoomIsCaught) {
  EXPECT_TRUE(is_the_bug(explore<SharedExchange<RelacyAtomics, false>>()));
}
TEST(RingSeededBug, RequestsBeyondTheWindowAreCaught) {
  EXPECT_TRUE(is_the_bug(explore<Reservation<RelacyAtomics, false>>()));
}

}  // namespace
}  // namespace gex::shm
