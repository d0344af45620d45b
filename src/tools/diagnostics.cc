// The self-check of gasnet_tools.h: the public macros, on this machine, with real threads.

#include <gasnet_tools.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

GASNETT_THREADKEY_DEFINE(gex_diagnostic_key);

namespace {

std::atomic<int> failures{0};

void expect(bool condition, const char* what) noexcept {
  if (condition) return;
  failures.fetch_add(1, std::memory_order_relaxed);
  gex::note("ERROR: diagnostics: %s", what);
}

/// Runs `body(thread)` in `count` threads and returns when all are done.
void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    try {
      threads.emplace_back(body, i);
    } catch (const std::system_error& error) {
      gex::fatal("gasnett_run_diagnostics: cannot start thread %d of %d: %s", i, count,
                 error.what());
    }
  }
  for (std::thread& thread : threads) thread.join();
}

void check_atomics(int iterations, int threads) {
  static gasnett_atomic_t counter = gasnett_atomic_init(0);
  static gasnett_atomic32_t sum32 = gasnett_atomic32_init(0);
  static gasnett_strongatomic64_t sum64 = gasnett_strongatomic64_init(0);
  static gasnett_atomic64_t swapped = gasnett_atomic64_init(0);
  static gasnett_atomic_t down = gasnett_atomic_init(0);
  gasnett_atomic_set(&counter, 0, 0);
  gasnett_atomic32_set(&sum32, 0, 0);
  gasnett_strongatomic64_set(&sum64, 0, 0);
  gasnett_atomic64_set(&swapped, 0, 0);
  const auto operations =
      static_cast<std::uint64_t>(iterations) * static_cast<std::uint64_t>(threads);
  gasnett_atomic_set(&down, static_cast<std::uint32_t>(operations), GASNETT_ATOMIC_MB_POST);
  std::atomic<int> zeros{0};
  std::atomic<std::uint64_t> returned{0};
  run_threads(threads, [&](int) {
    std::uint64_t taken = 0;
    for (int i = 0; i < iterations; ++i) {
      gasnett_atomic_increment(&counter, 0);
      gasnett_atomic32_add(&sum32, 3, 0);
      gasnett_atomic32_subtract(&sum32, 1, GASNETT_ATOMIC_MB_PRE);
      std::uint64_t seen = 0;
      do {
        seen = gasnett_strongatomic64_read(&sum64, 0);
      } while (!gasnett_strongatomic64_compare_and_swap(&sum64, seen, seen + (1ull << 32), 0));
      // Everything that was ever swapped in is swapped out exactly once.
      taken += gasnett_atomic64_swap(&swapped, 1, GASNETT_ATOMIC_MB_POST);
      zeros += gasnett_atomic_decrement_and_test(&down, GASNETT_ATOMIC_ACQ_IF_TRUE) ? 1 : 0;
    }
    returned += taken;
  });
  expect(gasnett_atomic_read(&counter, 0) == static_cast<std::uint32_t>(operations),
         "atomic increments were lost");
  expect(gasnett_atomic32_read(&sum32, 0) == static_cast<std::uint32_t>(2 * operations),
         "32-bit atomic additions were lost");
  expect(gasnett_strongatomic64_read(&sum64, 0) == operations << 32,
         "64-bit compare-and-swaps were lost");
  expect(returned + gasnett_atomic64_read(&swapped, 0) == operations, "64-bit swaps were lost");
  expect(zeros == 1, "an atomic counter did not reach zero exactly once");
}

/// One thread publishes, the other must see what was stored before: the fences of REL and ACQ.
void check_fences(int iterations) {
  gasnett_atomic_t turn = gasnett_atomic_init(0);
  std::uint64_t payload = 0;
  int stale = 0;
  const auto rounds = static_cast<std::uint32_t>(iterations);
  run_threads(2, [&](int who) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const std::uint32_t mine = 2 * round + static_cast<std::uint32_t>(who);
      while (gasnett_atomic_read(&turn, GASNETT_ATOMIC_ACQ) != mine) gasnett_sched_yield();
      if (payload != mine) ++stale;
      payload = mine + 1;
      gasnett_atomic_set(&turn, mine + 1, GASNETT_ATOMIC_REL);
    }
  });
  expect(stale == 0, "a released store was not seen by the thread that acquired");
}

void check_locks(int iterations, int threads) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  std::uint64_t guarded = 0;
  run_threads(threads, [&](int) {
    for (int i = 0; i < iterations; ++i) {
      if (i % 2 == 0 || gasnett_mutex_trylock(&mutex) != 0) gasnett_mutex_lock(&mutex);
      ++guarded;
      gasnett_mutex_unlock(&mutex);
    }
  });
  expect(guarded == static_cast<std::uint64_t>(iterations) * static_cast<std::uint64_t>(threads),
         "a mutex let two threads in");
  expect(gasnett_mutex_destroy_ignoreerr(&mutex) == 0, "a free mutex could not be destroyed");
}

/// The threads take turns, each waiting on the condition for its own.
void check_conditions(int iterations, int threads) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  int turn = 0;
  const int rounds = std::min(iterations, 1000);
  run_threads(threads, [&](int who) {
    for (int i = 0; i < rounds; ++i) {
      gasnett_mutex_lock(&mutex);
      while (turn % threads != who) gasnett_cond_wait(&condition, &mutex);
      ++turn;
      gasnett_cond_broadcast(&condition);
      gasnett_mutex_unlock(&mutex);
    }
  });
  expect(turn == rounds * threads, "turns were lost at a condition variable");
  gasnett_cond_destroy(&condition);
  gasnett_mutex_destroy(&mutex);
}

void check_rwlocks(int iterations, int threads) {
  gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
  std::uint64_t first = 0, second = 0;
  std::atomic<int> torn{0};
  run_threads(threads, [&](int who) {
    for (int i = 0; i < iterations; ++i) {
      if ((i + who) % 4 == 0) {
        gasnett_rwlock_wrlock(&lock);
        ++first;
        ++second;
      } else {
        gasnett_rwlock_rdlock(&lock);
        if (first != second) ++torn;
      }
      gasnett_rwlock_unlock(&lock);
    }
  });
  expect(torn == 0, "a reader/writer lock let a reader in beside a writer");
  gasnett_rwlock_destroy(&lock);
}

void check_thread_keys(int threads) {
  std::atomic<int> wrong{0};
  run_threads(threads, [&](int) {
    int mine = 0;
    gasnett_threadkey_init(gex_diagnostic_key);
    if (gasnett_threadkey_get(gex_diagnostic_key) != nullptr) ++wrong;
    gasnett_threadkey_set(gex_diagnostic_key, &mine);
    gasnett_sched_yield();
    if (gasnett_threadkey_get_noinit(gex_diagnostic_key) != &mine) ++wrong;
  });
  expect(wrong == 0, "a thread saw another thread's value of a key");
}

void check_timers() {
  gasnett_tick_t last = gasnett_ticks_now();
  bool backward = false;
  for (int i = 0; i < 10000; ++i) {
    const gasnett_tick_t now = gasnett_ticks_now();
    backward = backward || now < last;
    last = now;
  }
  expect(!backward, "ticks ran backward");
  constexpr std::uint64_t pause_ns = 2'000'000;
  const gasnett_tick_t begin = gasnett_ticks_now();
  gasnett_nsleep(pause_ns);
  const std::uint64_t slept = gasnett_ticks_to_ns(gasnett_ticks_now() - begin);
  // A sleep is never shorter; a thousandth is more than the calibration can be wrong by.
  expect(slept >= pause_ns - pause_ns / 1000, "ticks ran slower than the clock");
}

}  // namespace

int gasnett_run_diagnostics(int iterations, int threads, const char* sections, ...) {
  iterations = std::max(iterations, 1);
  threads = std::max(threads, 1);
  const std::string_view wanted = sections != nullptr && *sections != '\0' ? sections : "alcrkt";
  failures = 0;
  for (const char section : wanted) {
    switch (section) {
      case 'a':
        check_atomics(iterations, threads);
        check_fences(iterations);
        break;
      case 'l':
        check_locks(iterations, threads);
        break;
      case 'c':
        check_conditions(iterations, threads);
        break;
      case 'r':
        check_rwlocks(iterations, threads);
        break;
      case 'k':
        check_thread_keys(threads);
        break;
      case 't':
        check_timers();
        break;
      default:
        gex::fatal("gasnett_run_diagnostics: there is no section '%c'", section);
    }
  }
  return failures;
}

void gasnett_diagnostic_gethandlers(void* table, int* count) {
  static const std::max_align_t no_handlers[8] = {};
  *static_cast<const void**>(table) = no_handlers;
  *count = 0;
}
