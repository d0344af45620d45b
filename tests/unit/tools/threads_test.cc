#define GASNETT_THREAD_SAFE 1
#define GASNET_DEBUG 1  // the assertions check
#include <gasnet_tools.h>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

GASNETT_THREADKEY_DEFINE(tools_test_key);

namespace {

std::atomic<int> destroyed{0};

/// Calls the system's function of that name.
template <class Object>
int destroy(const char* name, Object* object) {
  ++destroyed;
  return reinterpret_cast<int (*)(Object*)>(dlsym(RTLD_NEXT, name))(object);
}

}  // namespace

// The library's calls of these come here: what they do cannot be seen otherwise.
extern "C" int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  return destroy("pthread_cond_destroy", condition);
}
extern "C" int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  return destroy("pthread_rwlock_destroy", lock);
}

namespace {

constexpr int threads = 4;

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(body, i);
  for (std::thread& thread : running) thread.join();
}

TEST(ToolsMutex, ExcludesOtherThreads) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  std::uint64_t guarded = 0;
  in_threads([&](int) {
    for (int i = 0; i < 5000; ++i) {
      gasnett_mutex_lock(&mutex);
      gasnett_mutex_assertlocked(&mutex);
      ++guarded;
      gasnett_mutex_unlock(&mutex);
      gasnett_mutex_assertunlocked(&mutex);
    }
  });
  EXPECT_EQ(guarded, std::uint64_t{threads} * 5000);
}

TEST(ToolsMutex, TrylockReturnsBusy) {
  gasnett_mutex_t mutex;
  gasnett_mutex_init(&mutex);
  gasnett_mutex_lock(&mutex);
  int answer = 0;
  std::thread([&] { answer = gasnett_mutex_trylock(&mutex); }).join();
  EXPECT_EQ(answer, EBUSY);
  gasnett_mutex_unlock(&mutex);
  std::thread([&] {
    answer = gasnett_mutex_trylock(&mutex);
    gasnett_mutex_unlock(&mutex);
  }).join();
  EXPECT_EQ(answer, 0);
  gasnett_mutex_destroy(&mutex);
}

TEST(ToolsMutex, MisuseIsNamed) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  EXPECT_EXIT(
      {
        gasnett_mutex_lock(&mutex);
        gasnett_mutex_lock(&mutex);
      },
      testing::ExitedWithCode(1), "gasnett_mutex_lock: this thread holds the mutex already");
  EXPECT_EXIT(gasnett_mutex_unlock(&mutex), testing::ExitedWithCode(1),
              "gasnett_mutex_unlock: this thread does not hold the mutex");
  EXPECT_EXIT(gasnett_mutex_assertlocked(&mutex), testing::ExitedWithCode(1), "does not hold");
  EXPECT_EXIT(
      {
        gasnett_mutex_lock(&mutex);
        gasnett_mutex_destroy(&mutex);
      },
      testing::ExitedWithCode(1), "gasnett_mutex_destroy");
  gasnett_mutex_lock(&mutex);
  EXPECT_EQ(gasnett_mutex_destroy_ignoreerr(&mutex), EBUSY);
  EXPECT_EXIT(std::thread([&] { gasnett_mutex_unlock(&mutex); }).join(), testing::ExitedWithCode(1),
              "does not hold the mutex");
  gasnett_mutex_unlock(&mutex);
}

TEST(ToolsCondition, WakesTheWaiter) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  int turn = 0;
  in_threads([&](int who) {
    for (int i = 0; i < 200; ++i) {
      gasnett_mutex_lock(&mutex);
      while (turn % threads != who) gasnett_cond_wait(&condition, &mutex);
      gasnett_mutex_assertlocked(&mutex);
      ++turn;
      gasnett_cond_broadcast(&condition);
      gasnett_mutex_unlock(&mutex);
    }
  });
  EXPECT_EQ(turn, threads * 200);
  gasnett_cond_destroy(&condition);
}

TEST(ToolsCondition, SignalWakesOne) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t condition;
  // What the memory was before does not matter.
  std::memset(&condition, 0xA5, sizeof condition);
  gasnett_cond_init(&condition);
  bool waits = false, ready = false, seen = false;
  std::thread waiter([&] {
    gasnett_mutex_lock(&mutex);
    waits = true;
    while (!ready) gasnett_cond_wait(&condition, &mutex);
    seen = true;
    gasnett_mutex_unlock(&mutex);
  });
  for (bool signalled = false; !signalled; gasnett_sched_yield()) {
    gasnett_mutex_lock(&mutex);
    if (waits) {
      ready = signalled = true;
      gasnett_cond_signal(&condition);
    }
    gasnett_mutex_unlock(&mutex);
  }
  waiter.join();
  EXPECT_TRUE(seen);
}

TEST(ToolsCondition, DestroyIsTheSystems) {
  gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  const int before = destroyed;
  gasnett_cond_destroy(&condition);
  EXPECT_EQ(destroyed, before + 1);
}

TEST(ToolsCondition, WaitingWithoutTheMutexIsNamed) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  EXPECT_EXIT(gasnett_cond_wait(&condition, &mutex), testing::ExitedWithCode(1),
              "gasnett_cond_wait: this thread does not hold the mutex");
}

TEST(ToolsRwlock, WritersExcludeAllOthers) {
  static gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  std::uint64_t first = 0, second = 0;
  std::atomic<int> torn{0};
  in_threads([&](int who) {
    for (int i = 0; i < 3000; ++i) {
      if ((i + who) % 5 == 0) {
        gasnett_rwlock_wrlock(&lock);
        gasnett_rwlock_assertwrlocked(&lock);
        ++first;
        ++second;
      } else {
        gasnett_rwlock_rdlock(&lock);
        gasnett_rwlock_assertrdlocked(&lock);
        if (first != second) ++torn;
      }
      gasnett_rwlock_unlock(&lock);
    }
  });
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(first, std::uint64_t{threads} * 600);
}

TEST(ToolsRwlock, ReadersShareAndTryAnswers) {
  gasnett_rwlock_t lock;
  gasnett_rwlock_init(&lock);
  gasnett_rwlock_rdlock(&lock);
  int read = -1, write = -1;
  std::thread([&] {
    write = gasnett_rwlock_trywrlock(&lock);
    read = gasnett_rwlock_tryrdlock(&lock);
    if (read == 0) gasnett_rwlock_unlock(&lock);
  }).join();
  EXPECT_EQ(read, 0);
  EXPECT_EQ(write, EBUSY);
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_wrlock(&lock);
  std::thread([&] { read = gasnett_rwlock_tryrdlock(&lock); }).join();
  EXPECT_EQ(read, EBUSY);
  gasnett_rwlock_unlock(&lock);
  gasnett_rwlock_assertunlocked(&lock);
  gasnett_rwlock_destroy(&lock);
}

TEST(ToolsRwlock, DestroyIsTheSystems) {
  gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  const int before = destroyed;
  gasnett_rwlock_destroy(&lock);
  EXPECT_EQ(destroyed, before + 1);
}

TEST(ToolsRwlock, MisuseIsNamed) {
  gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  EXPECT_EXIT(
      {
        gasnett_rwlock_rdlock(&lock);
        gasnett_rwlock_rdlock(&lock);
      },
      testing::ExitedWithCode(1), "gasnett_rwlock_rdlock: this thread holds the lock for reading");
  EXPECT_EXIT(
      {
        gasnett_rwlock_wrlock(&lock);
        gasnett_rwlock_rdlock(&lock);
      },
      testing::ExitedWithCode(1), "gasnett_rwlock_rdlock: this thread holds the lock for writing");
  EXPECT_EXIT(gasnett_rwlock_unlock(&lock), testing::ExitedWithCode(1),
              "gasnett_rwlock_unlock: this thread does not hold the lock");
  EXPECT_EXIT(
      {
        gasnett_rwlock_rdlock(&lock);
        gasnett_rwlock_assertwrlocked(&lock);
      },
      testing::ExitedWithCode(1),
      "should be locked for writing by this thread and is locked for r");
  EXPECT_EXIT(
      {
        std::vector<gasnett_rwlock_t> many(65, gasnett_rwlock_t GASNETT_RWLOCK_INITIALIZER);
        for (gasnett_rwlock_t& each : many) gasnett_rwlock_rdlock(&each);
      },
      testing::ExitedWithCode(1), "holds 64 reader/writer locks already");
}

TEST(ToolsThreadKey, EachThreadHasItsOwn) {
  int mine = 0;
  gasnett_threadkey_set(tools_test_key, &mine);
  std::atomic<int> wrong{0};
  in_threads([&](int) {
    int own = 0;
    gasnett_threadkey_init(tools_test_key);
    if (gasnett_threadkey_get(tools_test_key) != nullptr) ++wrong;
    gasnett_threadkey_set_noinit(tools_test_key, &own);
    gasnett_sched_yield();
    if (gasnett_threadkey_get_noinit(tools_test_key) != &own) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(gasnett_threadkey_get(tools_test_key), &mine);
}

TEST(ToolsDiagnostics, NeedNoHandlers) {
  void* table = nullptr;
  int count = 7;
  gasnett_diagnostic_gethandlers(&table, &count);
  EXPECT_NE(table, nullptr);
  EXPECT_EQ(count, 0);
}

TEST(ToolsDiagnostics, PassOnThisMachineAndRefuseUnknownSections) {
  EXPECT_EQ(gasnett_run_diagnostics(500, threads, nullptr), 0);
  EXPECT_EQ(gasnett_run_diagnostics(10, 1, "kt", nullptr, 7), 0);
  EXPECT_EXIT(gasnett_run_diagnostics(1, 1, "z"), testing::ExitedWithCode(1),
              "there is no section 'z'");
}

}  // namespace
