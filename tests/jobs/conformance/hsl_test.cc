// Handler-safe locks: real locks where threads can meet, state where they cannot.

#include <array>
#include <chrono>
#include <thread>

#include "conformance.h"
#include "message.h"

namespace conformance::hsl_test {
namespace {

gex_HSL_t static_lock = GEX_HSL_INITIALIZER;
/// Written only under static_lock.
struct Guarded {
  long value = 0;
  long copy = 0;
};
Guarded guarded;
Count seen;
Count replies_seen;

extern Handlers handlers;

void add() {
  EXPECT_EQ(guarded.value, guarded.copy) << "two holders at once";
  ++guarded.value;
  ++guarded.copy;
}

void lock_in_handler(gex_Token_t token, gex_AM_Arg_t answered) {
  gex_HSL_Lock(&static_lock);
  add();
  gex_HSL_Unlock(&static_lock);
  // Not held across the reply.
  if (answered != 0) gex_AM_ReplyShort0(token, handlers[1], 0);
  ++seen;
}
void lock_in_reply(gex_Token_t) {
  gex_HSL_Lock(&static_lock);
  add();
  gex_HSL_Unlock(&static_lock);
  ++replies_seen;
}

Handlers handlers({
    entry(lock_in_handler, short_request, 1, "hsl: request"),
    entry(lock_in_reply, short_reply, 0, "hsl: reply"),
});

TEST(Hsl, IsOneCacheLine) {
  EXPECT_EQ(sizeof(gex_HSL_t), 64U);
}

TEST(Hsl, StaticAndInitialisedLocksWork) {
  gex_HSL_t initialised;
  std::memset(&initialised, 0xff, sizeof initialised);
  gex_HSL_Init(&initialised);
  for (gex_HSL_t* lock : {&static_lock, &initialised}) {
    for (int i = 0; i < 1000; ++i) {
      gex_HSL_Lock(lock);
      gex_HSL_Unlock(lock);
      ASSERT_EQ(gex_HSL_Trylock(lock), GASNET_OK);
      gex_HSL_Unlock(lock);
    }
  }
  gex_HSL_Destroy(&initialised);
  gex_HSL_Init(&initialised);
  EXPECT_EQ(gex_HSL_Trylock(&initialised), GASNET_OK);
  gex_HSL_Unlock(&initialised);
  gex_HSL_Destroy(&initialised);
}

TEST(Hsl, ReleasedInAnyOrder) {
  std::array<gex_HSL_t, 4> locks;
  for (gex_HSL_t& lock : locks) gex_HSL_Init(&lock);
  constexpr std::array<std::array<std::size_t, 4>, 4> orders{
      {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}}};
  for (const auto& order : orders) {
    for (gex_HSL_t& lock : locks) gex_HSL_Lock(&lock);
    for (const std::size_t i : order) gex_HSL_Unlock(&locks[i]);
    for (const std::size_t i : order) EXPECT_EQ(gex_HSL_Trylock(&locks[i]), GASNET_OK);
    for (gex_HSL_t& lock : locks) gex_HSL_Unlock(&lock);
  }
  for (gex_HSL_t& lock : locks) gex_HSL_Destroy(&lock);
  // Nothing is held any more: the thread may communicate.
  barrier();
}

TEST(Hsl, InRequestAndReplyHandlers) {
  constexpr long messages = 500;
  seen.reset();
  replies_seen.reset();
  guarded = {};
  barrier();
  for (long i = 0; i < messages; ++i) {
    gex_HSL_Lock(&static_lock);
    add();
    gex_HSL_Unlock(&static_lock);
    gex_AM_RequestShort1(team(), next(), handlers[0], 0, 1);
  }
  WAIT_UNTIL(seen.get() == messages && replies_seen.get() == messages);
  barrier();
  EXPECT_EQ(guarded.value, 3 * messages);
}

constexpr int threads = 4;

TEST_WITH_THREADS(Hsl, ExcludesThreads) {
  guarded = {};
  constexpr long each = 5000;
  std::vector<std::thread> workers;
  long refused = 0;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([t, &refused] {
      for (long i = 0; i < each; ++i) {
        if (t % 2 == 0) {
          gex_HSL_Lock(&static_lock);
        } else {
          long tries = 0;
          while (gex_HSL_Trylock(&static_lock) != GASNET_OK) {
            ++tries;
            std::this_thread::yield();
          }
          refused += tries;
        }
        add();
        if (i % 64 == 0) std::this_thread::yield();
        gex_HSL_Unlock(&static_lock);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(guarded.value, threads * each);
}

TEST_WITH_THREADS(Hsl, TrylockIsRefusedWhileAnotherThreadHolds) {
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  gex_HSL_Lock(&lock);
  int from_other = GASNET_OK;
  std::thread([&] { from_other = gex_HSL_Trylock(&lock); }).join();
  EXPECT_EQ(from_other, GASNET_ERR_NOT_READY);
  gex_HSL_Unlock(&lock);
  std::thread([&] {
    from_other = gex_HSL_Trylock(&lock);
    if (from_other == GASNET_OK) gex_HSL_Unlock(&lock);
  }).join();
  EXPECT_EQ(from_other, GASNET_OK);
}

// A thread that waits for a lock gets it when the holder releases it, and not before.
TEST_WITH_THREADS(Hsl, LockWaitsForTheHolder) {
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  Count entered;
  gex_HSL_Lock(&lock);
  std::thread other([&] {
    gex_HSL_Lock(&lock);
    ++entered;
    gex_HSL_Unlock(&lock);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(entered.get(), 0);
  gex_HSL_Unlock(&lock);
  other.join();
  EXPECT_EQ(entered.get(), 1);
}

// A thread may be known by the number of one that has ended, and held the lock until just then.
// What goes wrong there rarely does: job.conformance.first-calls repeats this.
TEST_WITH_THREADS(Hsl, FirstCallOfAThreadWhileOthersEnd) {
  guarded = {};
  constexpr long started = 250;
  std::array<std::thread, 2 * threads> workers;
  for (long i = 0; i < started; ++i) {
    std::thread& worker = workers[i % workers.size()];
    if (worker.joinable()) worker.join();
    worker = std::thread([] {
      gex_HSL_Lock(&static_lock);
      add();
      std::this_thread::yield();
      gex_HSL_Unlock(&static_lock);
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(guarded.value, started);
}

// Handlers on the polling thread meet other threads that never enter the library but for the lock.
TEST_WITH_THREADS(Hsl, HandlersAgainstThreads) {
  constexpr long messages = 500;
  constexpr long each = 2000;
  seen.reset();
  replies_seen.reset();
  guarded = {};
  barrier();
  std::vector<std::thread> workers;
  for (int t = 0; t < 2; ++t) {
    workers.emplace_back([] {
      for (long i = 0; i < each; ++i) {
        gex_HSL_Lock(&static_lock);
        add();
        gex_HSL_Unlock(&static_lock);
      }
    });
  }
  for (long i = 0; i < messages; ++i) {
    gex_AM_RequestShort1(team(), next(), handlers[0], 0, 1);
  }
  WAIT_UNTIL(seen.get() == messages && replies_seen.get() == messages);
  for (std::thread& worker : workers) worker.join();
  barrier();
  EXPECT_EQ(guarded.value, 2 * messages + 2 * each);
}

}  // namespace
}  // namespace conformance::hsl_test
