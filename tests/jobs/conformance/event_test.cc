// Events: one, some, all; roots and leaves; generations; threads.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "transfer.h"

namespace conformance::event_test {
namespace {

std::atomic<int> handled{0};
void count_request(gex_Token_t) {
  ++handled;
}
const Handlers handlers({{0, handler(count_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
                          nullptr, "count_request"}});

/// A team of the caller alone: its barriers are events that need no other rank.
class Alone {
 public:
  Alone() { gex_TM_Split(&team_, team(), static_cast<int>(rank()), 0, nullptr, 0, no_scratch); }
  ~Alone() { gex_TM_Destroy(team_, nullptr, 0); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  gex_Event_t event() const { return gex_Coll_BarrierNB(team_, 0); }

 private:
  static constexpr gex_Flags_t no_scratch = GEX_FLAG_TM_NO_SCRATCH;
  gex_TM_t team_ = GEX_TM_INVALID;
};

/// A barrier of all ranks that cannot complete until rank 0 has been notified by every other rank.
/// On rank 0 itself, and so in a job of one, nothing is held back.
class HeldBarrier {
 public:
  HeldBarrier() {
    reported_ = reinterpret_cast<std::uint32_t*>(own_segment() + segment_bytes - 1024);
    std::fill(reported_, reported_ + 64, 0);
    barrier();
    if (rank() != 0) event_ = gex_Coll_BarrierNB(team(), 0);
  }
  HeldBarrier(const HeldBarrier&) = delete;
  HeldBarrier& operator=(const HeldBarrier&) = delete;

  bool held() const { return rank() != 0; }
  gex_Event_t event() const { return event_; }

  /// Lets it complete; on rank 0 also starts it.
  void release() {
    if (rank() != 0) {
      gex_RMA_PutBlockingVal(team(), 0, segment_of(0) + segment_bytes - 1024 + 4 * rank(), 1, 4, 0);
      return;
    }
    for (gex_Rank_t peer = 1; peer < size(); ++peer)
      WAIT_UNTIL(look_at<std::uint32_t>(reported_ + peer) == 1);
    event_ = gex_Coll_BarrierNB(team(), 0);
  }

 private:
  std::uint32_t* reported_;
  gex_Event_t event_ = GEX_EVENT_INVALID;
};

TEST(Event, InvalidIsComplete) {
  EXPECT_EQ(gex_Event_Test(GEX_EVENT_INVALID), GASNET_OK);
  gex_Event_Wait(GEX_EVENT_INVALID);
  for (const gex_EC_t category : {GEX_EC_GET, GEX_EC_PUT, GEX_EC_LC, GEX_EC_AM, GEX_EC_RMW}) {
    const gex_Event_t leaf = gex_Event_QueryLeaf(GEX_EVENT_INVALID, category);
    EXPECT_EQ(gex_Event_Test(leaf), GASNET_OK);
  }
}

TEST(Event, ArraysOfNothingAreComplete) {
  gex_Event_t events[5] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID,
                           GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    EXPECT_EQ(gex_Event_TestSome(events, count, 0), GASNET_OK);
    EXPECT_EQ(gex_Event_TestAll(events, count, 0), GASNET_OK);
    gex_Event_WaitSome(events, count, 0);
    gex_Event_WaitAll(events, count, 0);
  }
}

TEST(Event, TestReportsNotReadyUntilItIs) {
  HeldBarrier held;
  if (held.held()) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(gex_Event_Test(held.event()), GASNET_ERR_NOT_READY);
      gasnet_AMPoll();
    }
  }
  held.release();
  retry([&] { return gex_Event_Test(held.event()) == GASNET_OK; });
}

TEST(Event, SomeTakesTheFinishedAndLeavesTheOthers) {
  const Alone alone;
  HeldBarrier held;
  if (held.held()) {
    gex_Event_t events[4] = {GEX_EVENT_INVALID, held.event(), alone.event(), held.event()};
    events[3] = GEX_EVENT_INVALID;
    gex_Event_WaitSome(events, 4, 0);
    EXPECT_EQ(events[0], GEX_EVENT_INVALID);
    EXPECT_EQ(events[1], held.event());
    EXPECT_EQ(events[2], GEX_EVENT_INVALID);
    EXPECT_EQ(gex_Event_TestSome(events, 4, 0), GASNET_ERR_NOT_READY);
    EXPECT_EQ(gex_Event_TestAll(events, 4, 0), GASNET_ERR_NOT_READY);
    EXPECT_EQ(events[1], held.event());
    events[2] = alone.event();
    // All: not yet, but what has finished may be taken.
    EXPECT_EQ(gex_Event_TestAll(events, 4, 0), GASNET_ERR_NOT_READY);
    EXPECT_EQ(events[1], held.event());
    held.release();
    gex_Event_WaitAll(events, 4, 0);
    for (const gex_Event_t event : events) EXPECT_EQ(event, GEX_EVENT_INVALID);
  } else {
    held.release();
    gex_Event_t events[2] = {alone.event(), held.event()};
    gex_Event_WaitAll(events, 2, 0);
    EXPECT_EQ(events[0], GEX_EVENT_INVALID);
    EXPECT_EQ(events[1], GEX_EVENT_INVALID);
  }
}

TEST(Event, SomeAndAllOverTransfersUntilNothingIsLeft) {
  constexpr std::size_t count = 64;
  std::vector<std::byte> source = patterned(rank(), 4096);
  std::vector<gex_Event_t> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    events[i] = i % 3 == 2 ? GEX_EVENT_INVALID
                           : gex_RMA_PutNB(team(), next(), segment_of(next()) + i * 4096,
                                           source.data(), 64 * (i + 1), GEX_EVENT_DEFER, 0);
  }
  while (std::count(events.begin(), events.end(), GEX_EVENT_INVALID) <
         static_cast<std::ptrdiff_t>(count)) {
    const auto before = std::count(events.begin(), events.end(), GEX_EVENT_INVALID);
    gex_Event_WaitSome(events.data(), count, 0);
    EXPECT_GT(std::count(events.begin(), events.end(), GEX_EVENT_INVALID), before);
  }
  barrier();
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 3 != 2) {
      EXPECT_TRUE(holds(own_segment() + i * 4096, previous(), 64 * (i + 1)));
    }
  }
}

// Test never polls: what arrives while it is called stays where it is.
TEST(Event, TestsRunNoHandlers) {
  handled = 0;
  barrier();
  HeldBarrier held;
  gex_AM_RequestShort(team(), next(), handlers[0], 0);
  if (held.held()) {
    const int after_injection = handled;
    gex_Event_t event = held.event();
    for (int i = 0; i < 20000; ++i) {
      ASSERT_EQ(gex_Event_Test(event), GASNET_ERR_NOT_READY);
      ASSERT_EQ(gex_Event_TestSome(&event, 1, 0), GASNET_ERR_NOT_READY);
      ASSERT_EQ(gex_Event_TestAll(&event, 1, 0), GASNET_ERR_NOT_READY);
      ASSERT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
      if (i % 1000 == 0) std::this_thread::yield();
    }
    EXPECT_EQ(handled, after_injection) << "a test ran a handler";
  }
  held.release();
  gex_Event_Wait(held.event());
  WAIT_UNTIL(handled == 1);
}

TEST(Event, WaitPolls) {
  // The barrier completes only when rank 0 has been answered, so the rank that waits must serve it.
  handled = 0;
  barrier();
  HeldBarrier held;
  held.release();
  if (rank() == 0) {
    for (gex_Rank_t peer = 1; peer < size(); ++peer)
      gex_AM_RequestShort(team(), peer, handlers[0], 0);
  }
  gex_Event_Wait(held.event());
  WAIT_UNTIL(rank() == 0 || handled == 1);
}

// Leaves

TEST(Leaf, IsTheSameHandleHoweverAsked) {
  const std::vector<std::byte> source = patterned(1, 60000);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{60000}}) {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    const gex_Event_t root =
        gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), bytes, &leaf, 0);
    ASSERT_NE(leaf, GEX_EVENT_NO_OP);
    ASSERT_NE(root, GEX_EVENT_NO_OP);
    if (root == GEX_EVENT_INVALID) {
      // All done: the leaf is, too, by either handle.
      EXPECT_EQ(gex_Event_Test(leaf), GASNET_OK);
      continue;
    }
    const gex_Event_t asked = gex_Event_QueryLeaf(root, GEX_EC_LC);
    EXPECT_EQ(gex_Event_QueryLeaf(root, GEX_EC_LC), asked);
    if (leaf != GEX_EVENT_INVALID) {
      EXPECT_EQ(asked, leaf);
    }
    EXPECT_NE(asked, root);
    gex_Event_Wait(asked);
    gex_Event_Wait(root);
  }
}

TEST(Leaf, NeedNotBeSynchronised) {
  const std::vector<std::byte> source = patterned(1, 3000);
  for (int i = 0; i < 1000; ++i) {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    gex_Event_Wait(
        gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), 8 + i % 50, &leaf, 0));
    EXPECT_NE(leaf, GEX_EVENT_NO_OP);
  }
  barrier();
  EXPECT_TRUE(holds(own_segment(), 1, 8 + 49));
  barrier();
}

TEST(Leaf, AndRootInAnyOrderInOneArray) {
  const std::vector<std::byte> source = patterned(1, 70000);
  for (int round = 0; round < 20; ++round) {
    // Leaves before, behind and between the roots, some roots without their leaf.
    constexpr std::size_t pairs = 6;
    gex_Event_t roots[pairs], leaves[pairs];
    for (std::size_t i = 0; i < pairs; ++i) {
      leaves[i] = GEX_EVENT_NO_OP;
      roots[i] = gex_RMA_PutNB(team(), next(), segment_of(next()) + i * 70016, source.data(),
                               i == 0 ? 70000 : 100 * i, &leaves[i], 0);
    }
    gex_Event_t array[2 * pairs];
    for (std::size_t i = 0; i < pairs; ++i) {
      const bool leaf_first = (round >> (i % 5) & 1) != 0;
      array[2 * i] = leaf_first ? leaves[i] : roots[i];
      array[2 * i + 1] = leaf_first ? roots[i] : leaves[i];
    }
    if (round % 4 == 1) std::reverse(array, array + 2 * pairs);
    if (round % 4 == 2) std::rotate(array, array + 5, array + 2 * pairs);
    if (round % 2 == 0) {
      gex_Event_WaitAll(array, 2 * pairs, 0);
    } else {
      retry([&] {
        return gex_Event_TestSome(array, 2 * pairs, 0) == GASNET_OK &&
               std::all_of(array, array + 2 * pairs,
                           [](gex_Event_t event) { return event == GEX_EVENT_INVALID; });
      });
    }
    for (const gex_Event_t event : array) EXPECT_EQ(event, GEX_EVENT_INVALID);
  }
}

TEST(Leaf, BesideAnUnfinishedEvent) {
  HeldBarrier held;
  const std::vector<std::byte> source = patterned(2, 500);
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  const gex_Event_t root =
      gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), 500, &leaf, 0);
  gex_Event_t array[3] = {root, held.event(), leaf};
  if (held.held()) {
    // Rank 0 polls in its release(), so the put gets done.
    retry([&] {
      EXPECT_EQ(gex_Event_TestAll(array, 3, 0), GASNET_ERR_NOT_READY);
      static_cast<void>(gex_Event_TestSome(array, 3, 0));
      return array[0] == GEX_EVENT_INVALID && array[2] == GEX_EVENT_INVALID;
    });
    EXPECT_EQ(array[1], held.event());
  }
  held.release();
  array[1] = held.event();
  gex_Event_WaitAll(array, 3, 0);
}

// Generations

TEST(Generation, HandlesOfManyMoreEventsThanAnyCounterHolds) {
  // Past 2^16 reuses of one event object, were there only one.
  const Alone alone;
  for (int i = 0; i < 140000; ++i) {
    const gex_Event_t event = alone.event();
    ASSERT_NE(event, GEX_EVENT_NO_OP);
    gex_Event_Wait(event);
  }
}

TEST(Generation, LiveHandlesAreDistinct) {
  const Alone alone;
  std::vector<gex_Event_t> events;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3000; ++i) {
      const gex_Event_t event = alone.event();
      if (event != GEX_EVENT_INVALID) events.push_back(event);
    }
    std::vector<gex_Event_t> sorted = events;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    // Half of them go, so that the next round reuses objects among live ones.
    for (std::size_t i = 0; i < events.size(); i += 2) gex_Event_Wait(events[i]);
    std::vector<gex_Event_t> rest;
    for (std::size_t i = 1; i < events.size(); i += 2) rest.push_back(events[i]);
    events = rest;
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
}

// Threads. PARSYNC: one at a time, as join() arranges here.

TEST_WITH_THREADS(EventThreads, AnotherThreadWaitsForWhatThisOneStarted) {
  const std::vector<std::byte> source = patterned(rank() + 60, 20000);
  std::vector<std::byte> back(20000);
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  const gex_Event_t root =
      gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), 20000, &leaf, 0);
  std::thread([&] { gex_Event_Wait(leaf); }).join();
  std::thread([&] {
    gex_Event_Wait(root);
    const gex_Event_t event =
        gex_RMA_GetNB(team(), back.data(), next(), segment_of(next()), 20000, 0);
    std::thread([=] { retry([&] { return gex_Event_Test(event) == GASNET_OK; }); }).join();
  }).join();
  EXPECT_TRUE(same_bytes(back.data(), source.data(), 20000));
  gex_Event_t started_there = GEX_EVENT_INVALID;
  std::thread([&] { started_there = gex_Coll_BarrierNB(team(), 0); }).join();
  gex_Event_Wait(started_there);
}

TEST_WITH_THREADS(EventThreads, ThreadsEndWithOperationsUnderWay) {
  constexpr int threads = 40;
  std::vector<gex_Event_t> events(threads);
  static std::byte sources[threads][5000];
  std::memset(own_segment(), 0, threads * 16384);
  barrier();
  for (int t = 0; t < threads; ++t) {
    std::thread([&, t] {
      fill(sources[t], rank() * 100 + t, 5000);
      std::byte* to = segment_of(next()) + t * 16384;
      events[t] = gex_RMA_PutNB(team(), next(), to, sources[t], 5000, GEX_EVENT_DEFER, 0);
      // No rank will ever wait for these.
      gex_RMA_PutNBI(team(), next(), to + 8192, sources[t], 5000, GEX_EVENT_NOW, 0);
    }).join();
    // A record that a thread left behind must not be mistaken for a drained one.
    gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  barrier();
  for (int t = 0; t < threads; ++t)
    EXPECT_TRUE(holds(own_segment() + t * 16384, previous() * 100 + t, 5000)) << "thread " << t;
  for (int t = 0; t < threads; ++t) {
    const std::byte* last = own_segment() + t * 16384 + 8192 + 4999;
    WAIT_UNTIL(holds(last - 4999, previous() * 100 + t, 5000));
  }
}

TEST_WITH_THREADS(EventThreads, NewThreadsTakeOverWithCleanCategories) {
  constexpr int threads = 60;
  std::memset(own_segment(), 0, threads * 65536);
  barrier();
  for (int t = 0; t < threads; ++t) {
    std::thread([&, t] {
      EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK) << "inherited operations";
      const std::vector<std::byte> source = patterned(rank() * 100 + t, 60000);
      for (int i = 0; i < 20; ++i)
        gex_RMA_PutNBI(team(), next(), segment_of(next()) + t * 65536 + i * 3000,
                       source.data() + i * 3000, 3000, GEX_EVENT_NOW, 0);
      if (t % 2 == 0) gex_NBI_Wait(GEX_EC_PUT, 0);
    }).join();
  }
  // Operations that odd threads left under way arrive.
  for (int t = 0; t < threads; ++t)
    WAIT_UNTIL(holds(own_segment() + t * 65536, previous() * 100 + t, 60000));
}

/// Rounds of destructors in which a thread may call. ThreadSanitizer follows it into all but the
/// last, in which the destructor of a key that is set in the one before may run.
#ifdef __SANITIZE_THREAD__
constexpr int rounds_of_destructors = PTHREAD_DESTRUCTOR_ITERATIONS - 2;
#else
constexpr int rounds_of_destructors = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif

/// An implicit put that a thread leaves under way, and that it waits for while it ends.
struct LeftPut {
  static constexpr std::size_t bytes = 400'000;
  std::vector<std::byte> source;
  std::uint64_t seed;
  bool in_region;
  int rounds;  ///< of destructors that pass before it waits
  pthread_key_t key{};

  LeftPut(int way, bool region, int passed)
      : seed(rank() * 100 + way), in_region(region), rounds(passed) {
    source = patterned(seed, bytes);
    std::memset(own_segment(), 0, bytes);
    barrier();
  }
  void start() {
    if (in_region) gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team(), next(), segment_of(next()), source.data(), bytes, GEX_EVENT_DEFER, 0);
  }
  void finish() {
    if (in_region)
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
    else
      gex_NBI_Wait(GEX_EC_ALL, 0);
    std::memset(source.data(), 0xee, bytes);
  }
  void check() {
    barrier();
    EXPECT_TRUE(holds(own_segment(), previous() * 100 + seed % 100, bytes));
    barrier();
  }
};

/// A key whose destructor finishes the thread's put.
struct FinishingKey {
  pthread_key_t key{};
  FinishingKey() { pthread_key_create(&key, destructor); }
  static void destructor(void* argument);
  void set(LeftPut& put) const {
    put.key = key;
    pthread_setspecific(key, &put);
  }
};
const FinishingKey made_before_the_library;
void FinishingKey::destructor(void* argument) {
  auto& put = *static_cast<LeftPut*>(argument);
  if (put.rounds-- == 0)
    put.finish();
  else
    pthread_setspecific(put.key, argument);
}

struct FinishingObject {
  LeftPut* put = nullptr;
  ~FinishingObject() {
    if (put != nullptr) put->finish();
  }
};
thread_local FinishingObject finishing_object;

/// Threads leave an implicit put under way, outside and inside an access region, which something
/// that runs while they end waits for.
void end_threads_that_leave_puts(int way, void (*leave)(LeftPut& put), int rounds = 0) {
  for (const bool in_region : {false, true}) {
    LeftPut put(2 * way + (in_region ? 1 : 0), in_region, rounds);
    std::thread([&] {
      put.start();
      leave(put);
    }).join();
    put.check();
  }
}

TEST_WITH_THREADS(EndingThreads, KeysMadeBeforeTheLibraryFindWhatIsUnderWay) {
  end_threads_that_leave_puts(0, [](LeftPut& put) { made_before_the_library.set(put); });
}
TEST_WITH_THREADS(EndingThreads, KeysMadeAfterTheLibraryFindWhatIsUnderWay) {
  static const FinishingKey made_after;
  end_threads_that_leave_puts(1, [](LeftPut& put) { made_after.set(put); });
}
TEST_WITH_THREADS(EndingThreads, LastRoundOfDestructorsFindsWhatIsUnderWay) {
  static const FinishingKey made_after;
  end_threads_that_leave_puts(
      2,
      [](LeftPut& put) {
        if (put.in_region)
          made_after.set(put);
        else
          made_before_the_library.set(put);
      },
      rounds_of_destructors - 1);
}
TEST_WITH_THREADS(EndingThreads, DestructorsOfThreadLocalObjectsFindWhatIsUnderWay) {
  end_threads_that_leave_puts(3, [](LeftPut& put) { finishing_object.put = &put; });
}
TEST_WITH_THREADS(EndingThreads, FindWhatIsUnderWayAfterPthreadExit) {
  static const FinishingKey made_after;
  end_threads_that_leave_puts(4, [](LeftPut& put) {
    made_after.set(put);
    pthread_exit(nullptr);
  });
}

/// More than may be in the library at once, one after another, of which each calls it for the first
/// time in the last of its destructors.
TEST_WITH_THREADS(EndingThreads, FirstCallInTheLastDestructorLeavesNothingBehind) {
  static pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* argument) {
                                 auto& rounds = *static_cast<int*>(argument);
                                 if (++rounds < rounds_of_destructors)
                                   pthread_setspecific(key, argument);
                                 else
                                   gex_NBI_Wait(GEX_EC_ALL, 0);
                               }),
            0);
  for (int life = 0; life < 2 * max_threads; ++life) {
    int rounds = 0;
    std::thread([&] { pthread_setspecific(key, &rounds); }).join();
    ASSERT_EQ(rounds, rounds_of_destructors);
  }
  pthread_key_delete(key);
}

TEST_IN_PAR(EventThreads, OneThreadStartsAnotherFinishes) {
  constexpr int count = 20000;
  std::mutex mutex;
  std::deque<gex_Event_t> queue;
  std::atomic<bool> ended{false};
  std::thread consumer([&] {
    for (;;) {
      gex_Event_t event = GEX_EVENT_NO_OP;
      {
        const std::lock_guard lock(mutex);
        if (!queue.empty()) {
          event = queue.front();
          queue.pop_front();
        } else if (ended) {
          return;
        }
      }
      if (event == GEX_EVENT_NO_OP)
        gasnet_AMPoll();
      else
        gex_Event_Wait(event);
    }
  });
  for (int i = 0; i < count; ++i) {
    const std::uint64_t value = rank() * std::uint64_t{1000000} + i;
    const gex_Event_t event =
        gex_RMA_PutNB(team(), next(), segment_of(next()) + 8 * i, &value, 8, GEX_EVENT_NOW, 0);
    std::size_t waiting = 0;
    {
      const std::lock_guard lock(mutex);
      queue.push_back(event);
      waiting = queue.size();
    }
    if (waiting > 3000) gasnet_AMPoll();
  }
  ended = true;
  consumer.join();
  barrier();
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(look_at<std::uint64_t>(own_segment() + 8 * i),
              previous() * std::uint64_t{1000000} + i);
}

TEST_IN_PAR(EventThreads, ThreadsTransferAtOnceEachWithItsOwnCategories) {
  constexpr int threads = 4;
  constexpr std::size_t area = 512 * 1024;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([t] {
      const std::uint64_t seed = rank() * 100 + t;
      const std::vector<std::byte> source = patterned(seed, 20000);
      std::byte* to = segment_of(next()) + t * area;
      std::vector<std::byte> back(20000);
      for (int round = 0; round < 12; ++round) {
        const std::size_t bytes = 1 + round * 1800;
        gex_RMA_PutNBI(team(), next(), to + round * 20000, source.data(), bytes, GEX_EVENT_GROUP,
                       0);
        gex_NBI_Wait(GEX_EC_PUT | GEX_EC_LC, 0);
        gex_RMA_GetNBI(team(), back.data(), next(), to + round * 20000, bytes, 0);
        gex_Event_t leaf;
        const gex_Event_t root =
            gex_RMA_PutNB(team(), next(), to + 300000, source.data(), bytes, &leaf, 0);
        gex_NBI_Wait(GEX_EC_GET, 0);
        EXPECT_TRUE(holds(back.data(), seed, bytes)) << "thread " << t << " round " << round;
        gex_Event_Wait(leaf);
        gex_Event_Wait(root);
      }
    });
  }
  for (std::thread& thread : running) {
    // The peers need this process even when its threads have ended.
    thread.join();
  }
  barrier();
  for (int t = 0; t < threads; ++t)
    for (int round = 0; round < 12; ++round)
      EXPECT_TRUE(
          holds(own_segment() + t * area + round * 20000, previous() * 100 + t, 1 + round * 1800));
}

TEST_IN_PAR(EventThreads, SeveralThreadsWatchOneLeaf) {
  // Leaves may be tested by several threads at once; roots are consumed by one.
  const std::vector<std::byte> source = patterned(3, 60000);
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  const gex_Event_t root =
      gex_RMA_PutNB(team(), next(), segment_of(next()), source.data(), 60000, &leaf, 0);
  std::vector<std::thread> watching;
  for (int t = 0; t < 4; ++t) watching.emplace_back([=] { gex_Event_Wait(leaf); });
  for (std::thread& thread : watching) thread.join();
  gex_Event_Wait(root);
}

}  // namespace
}  // namespace conformance::event_test
