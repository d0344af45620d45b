// The doorbell between real processes, with the fences of the system: a ring that is missed leaves
// both asleep for ever.

#include "shm/doorbell.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "base/os_process_fence.h"

namespace gex::shm {
namespace {

constexpr std::uint32_t rounds = 3000;

/// Two that take turns, each with its bell and what the other has brought it.
struct Table {
  struct Side {
    Doorbell bell;
    alignas(cache_line) std::atomic<std::uint32_t> brought{0};
  };
  Side sides[2];
};

/// Waits for each number, asleep, and brings the next one to the other side.
void take_turns(Table& table, int own, bool begins) {
  Table::Side& mine = table.sides[own];
  Table::Side& theirs = table.sides[1 - own];
  const auto bring = [&](std::uint32_t number) {
    // Relaxed: what is shown is that the bell orders it before its own word.
    theirs.brought.store(number, std::memory_order_relaxed);
    theirs.bell.ring();
  };
  if (begins) bring(1);
  for (std::uint32_t number = 1; number <= rounds; ++number) {
    const auto is_there = [&] { return mine.brought.load(std::memory_order_relaxed) >= number; };
    while (!is_there()) mine.bell.sleep(0, is_there);
    if (!begins || number != rounds) bring(begins ? number + 1 : number);
  }
}

TEST(Doorbell, IsExactHere) {
  // Linux has had these fences since 4.16; where they are refused the progress thread naps.
  ASSERT_TRUE(os::enable_shared_fence());
  EXPECT_TRUE(Doorbell::is_exact());
}

TEST(Doorbell, MissesNoRingOfAnotherProcess) {
  void* const memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& table = *new (memory) Table{};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    os::enable_shared_fence();
    take_turns(table, 1, false);
    _exit(0);
  }
  ASSERT_TRUE(os::enable_shared_fence());
  take_turns(table, 0, true);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(memory, sizeof(Table));
}

TEST(Doorbell, WakesAllThreadsThatSleep) {
  ASSERT_TRUE(os::enable_shared_fence());
  constexpr std::uint32_t sleepers = 3;
  Doorbell bell{};
  std::atomic<std::uint32_t> brought{0};
  std::atomic<std::uint32_t> seen[sleepers]{};
  std::vector<std::thread> threads;
  for (std::atomic<std::uint32_t>& own : seen)
    threads.emplace_back([&bell, &brought, &own] {
      for (std::uint32_t number = 1; number <= rounds; ++number) {
        const auto is_there = [&] { return brought.load(std::memory_order_relaxed) >= number; };
        while (!is_there()) bell.sleep(0, is_there, Sleepers::many);
        own.store(number, std::memory_order_release);
      }
    });
  // Each is taken by all before the next one comes: a thread that is missed sleeps for ever.
  for (std::uint32_t number = 1; number <= rounds; ++number) {
    brought.store(number, std::memory_order_relaxed);
    bell.ring();
    for (const std::atomic<std::uint32_t>& each : seen)
      while (each.load(std::memory_order_acquire) != number) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

struct CountingBell : StdBell {
  static inline int shared_fences = 0;
  static void shared_fence() noexcept {
    ++shared_fences;
    StdBell::shared_fence();
  }
};

TEST(Doorbell, DisturbsNoOtherProcessForASleepThatMayMissARing) {
  ASSERT_TRUE(os::enable_shared_fence());
  BasicDoorbell<CountingBell> bell{};
  bell.clear();
  const auto is_there = [] { return false; };
  bell.sleep(1000, is_there, Sleepers::one, NoMarks(), SleepFence::own);
  EXPECT_EQ(CountingBell::shared_fences, 0);
  bell.sleep(1000, is_there);
  EXPECT_EQ(CountingBell::shared_fences, 1);
}

TEST(Doorbell, SleepsNoLongerThanItsLimit) {
  Table table{};
  Doorbell& bell = table.sides[0].bell;
  constexpr std::chrono::milliseconds limit{1};
  std::chrono::nanoseconds longest{0};
  int asked = 0;
  for (int i = 0; i < 10; ++i) {
    const auto began = std::chrono::steady_clock::now();
    bell.sleep(std::chrono::nanoseconds{limit}.count(), [&] {
      ++asked;
      return false;
    });
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - began);
  }
  EXPECT_EQ(asked, 10);
  // The system may wake it for nothing, but not each time.
  EXPECT_GE(longest, limit);
  // Nor at all if there is something.
  bell.sleep(0, [&] {
    ++asked;
    return true;
  });
  EXPECT_EQ(asked, 11);
}

}  // namespace
}  // namespace gex::shm
