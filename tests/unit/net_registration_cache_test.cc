// Memory that is kept registered: what is found again, what is merged and evicted, and that nothing
// stays registered which was unmapped, whichever caller has unmapped it and how.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "net/kit/memory_monitor.h"
#include "net/kit/registration_cache.h"

namespace gex::net {
namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Stands for a network, with a list of what is registered.
class Ledger final : public MemoryRegistry {
 public:
  void* add(void* address, std::size_t size) noexcept override {
    if (before_adding) std::exchange(before_adding, nullptr)();
    const std::lock_guard lock(mutex);
    if (refused.contains(address)) return nullptr;
    const std::uintptr_t number = ++last;
    registered[number] = size;
    bytes += size;
    return reinterpret_cast<void*>(number);
  }
  void remove(void* handle) noexcept override {
    const std::lock_guard lock(mutex);
    const auto at = registered.find(reinterpret_cast<std::uintptr_t>(handle));
    ASSERT_NE(at, registered.end()) << "not registered, or no more";
    bytes -= at->second;
    registered.erase(at);
  }

  std::function<void()> before_adding;  ///< called once, as if registering took that long
  std::set<void*> refused;
  std::map<std::uintptr_t, std::size_t> registered;
  std::uintptr_t last = 0;
  std::size_t bytes = 0;
  std::mutex mutex;
};

class Pages {
 public:
  explicit Pages(std::size_t count)
      : size_(count * page),
        memory_(static_cast<char*>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::memset(memory_, 1, size_);
  }
  ~Pages() { munmap(memory_, size_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  char* at(std::size_t number) const { return memory_ + number * page; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  char* memory_;
};

class RegistrationCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    monitor = MemoryMonitor::start(why);
    if (!monitor) GTEST_SKIP() << why;
    make({.bytes = 64 * page, .pieces = 8});
  }
  void make(const RegistrationCache::Bounds& bounds) {
    cache = std::make_unique<RegistrationCache>(ledger, *monitor, bounds);
  }
  /// Holds memory for a moment; the registration's number, or 0.
  std::uintptr_t use(const void* address, std::size_t size) {
    RegistrationCache::Piece* piece = cache->hold(address, size);
    if (piece == nullptr) return 0;
    EXPECT_LE(piece->pages.begin, reinterpret_cast<std::uintptr_t>(address));
    EXPECT_GE(piece->pages.end, reinterpret_cast<std::uintptr_t>(address) + size);
    const auto number = reinterpret_cast<std::uintptr_t>(piece->handle);
    EXPECT_TRUE(ledger.registered.contains(number));
    cache->release(*piece);
    return number;
  }

  Ledger ledger;
  std::unique_ptr<MemoryMonitor> monitor;
  std::unique_ptr<RegistrationCache> cache;
};

TEST_F(RegistrationCacheTest, WhatIsRegisteredIsFoundAgain) {
  const Pages pages(8);
  const std::uintptr_t first = use(pages.at(1) + 17, 3 * page);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(use(pages.at(1) + 17, 3 * page), first);
  EXPECT_EQ(use(pages.at(2) + 1, 1), first);
  EXPECT_EQ(use(pages.at(1), 4 * page), first);
  EXPECT_NE(use(pages.at(1), 4 * page + 1), first);
  EXPECT_EQ(cache->counts().found, 3U);
  EXPECT_EQ(cache->counts().registered, 2U);
}

TEST_F(RegistrationCacheTest, NeighborsBecomeOne) {
  const Pages pages(12);
  use(pages.at(1), 2 * page);
  use(pages.at(5), 2 * page);
  EXPECT_EQ(ledger.registered.size(), 2U);
  // Touches the first, overlaps the second.
  const std::uintptr_t all = use(pages.at(3), 3 * page);
  EXPECT_EQ(ledger.registered.size(), 1U);
  EXPECT_EQ(ledger.bytes, 6 * page);
  EXPECT_EQ(use(pages.at(1), 6 * page), all);
  EXPECT_EQ(cache->counts().merged, 2U);
}

TEST_F(RegistrationCacheTest, APieceInUseStaysUntilItIsReleased) {
  const Pages pages(8);
  RegistrationCache::Piece* held = cache->hold(pages.at(0), 2 * page);
  ASSERT_NE(held, nullptr);
  const std::uintptr_t merged = use(pages.at(1), 3 * page);
  EXPECT_EQ(ledger.registered.size(), 2U);
  EXPECT_EQ(use(pages.at(0), 1), merged);
  cache->release(*held);
  EXPECT_EQ(ledger.registered.size(), 1U);
}

TEST_F(RegistrationCacheTest, TheLeastRecentlyUsedGoesFirst) {
  const Pages pages(200);
  std::vector<std::uintptr_t> numbers;
  // Not neighbors, and not more than there may be.
  for (std::size_t i = 0; i < 8; ++i) numbers.push_back(use(pages.at(10 * i), page));
  EXPECT_EQ(use(pages.at(0), page), numbers[0]);
  use(pages.at(100), page);
  EXPECT_EQ(ledger.registered.size(), 8U);
  EXPECT_EQ(use(pages.at(0), page), numbers[0]);
  EXPECT_NE(use(pages.at(10), page), numbers[1]);
  EXPECT_EQ(cache->counts().evicted, 2U);
  // By bytes.
  use(pages.at(120), 60 * page);
  EXPECT_LE(ledger.bytes, 64 * page);
}

TEST_F(RegistrationCacheTest, WhatIsTooMuchIsRefused) {
  const Pages pages(100);
  EXPECT_EQ(cache->hold(pages.at(0), 65 * page), nullptr);
  RegistrationCache::Piece* largest = cache->hold(pages.at(0), 60 * page);
  ASSERT_NE(largest, nullptr);
  EXPECT_EQ(cache->hold(pages.at(70), 10 * page), nullptr);
  cache->release(*largest);
  EXPECT_NE(use(pages.at(70), 10 * page), 0U);
}

TEST_F(RegistrationCacheTest, ANeighborThatCannotBeRegisteredAlongIsLeft) {
  const Pages pages(8);
  use(pages.at(0), 2 * page);
  ledger.refused.insert(pages.at(0));
  EXPECT_NE(use(pages.at(2), 2 * page), 0U);
  EXPECT_EQ(use(pages.at(0), page), 0U);
}

TEST_F(RegistrationCacheTest, MemoryThatWasUnmappedIsForgotten) {
  const Pages pages(16);
  char* memory = pages.at(4);
  const std::size_t size = 4 * page;
  const auto remap = [&](char* place) {
    EXPECT_EQ(
        mmap(place, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
        place);
  };
  std::set<std::uintptr_t> seen = {use(memory, size)};
  const auto expect_new = [&](const char* how) {
    std::memset(memory, 2, size);
    EXPECT_TRUE(seen.insert(use(memory, size)).second) << how;
    EXPECT_FALSE(seen.contains(0)) << how;
    EXPECT_EQ(ledger.registered.size(), 1U) << how;
  };
  munmap(memory + page, page);
  remap(memory + page);
  expect_new("munmap");
  remap(memory + 3 * page);
  expect_new("mmap over it");
  madvise(memory, page, MADV_DONTNEED);
  expect_new("madvise");
  const Pages elsewhere(1);
  EXPECT_EQ(mremap(memory, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.at(0)),
            elsewhere.at(0));
  remap(memory);
  expect_new("mremap away");
  const Pages source(1);
  EXPECT_EQ(mremap(source.at(0), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, memory), memory);
  expect_new("mremap over it");
  EXPECT_EQ(cache->counts().unmapped, 5U);
}

TEST_F(RegistrationCacheTest, WhatIsUnmappedInUseIsNotFoundAgain) {
  const Pages pages(4);
  RegistrationCache::Piece* held = cache->hold(pages.at(0), 2 * page);
  ASSERT_NE(held, nullptr);
  const auto number = reinterpret_cast<std::uintptr_t>(held->handle);
  munmap(pages.at(1), page);
  EXPECT_EQ(mmap(pages.at(1), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0),
            pages.at(1));
  EXPECT_NE(use(pages.at(0), 2 * page), number);
  EXPECT_TRUE(ledger.registered.contains(number));
  cache->release(*held);
  EXPECT_FALSE(ledger.registered.contains(number));
}

TEST_F(RegistrationCacheTest, FreedMemoryIsForgotten) {
  for (int round = 0; round < 4; ++round) {
    // So large that malloc maps it, and unmaps it when it is freed.
    constexpr std::size_t size = 40 << 20;
    make({.bytes = 2 * size, .pieces = 8});
    void* memory = std::malloc(size);
    ASSERT_NE(memory, nullptr);
    std::memset(memory, round, size);
    const std::uintptr_t number = use(memory, size);
    std::free(memory);
    void* again = std::malloc(size);
    std::memset(again, round, size);
    EXPECT_NE(use(again, size), number);
    std::free(again);
  }
}

TEST_F(RegistrationCacheTest, ManyChangesAtOnceForgetEverything) {
  const Pages pages(3 * MemoryMonitor::Changes::max_ranges);
  const Pages others(2);
  const std::uintptr_t number = use(others.at(0), page);
  ASSERT_TRUE(monitor->watch({reinterpret_cast<std::uintptr_t>(pages.at(0)),
                              reinterpret_cast<std::uintptr_t>(pages.at(0)) + pages.size()}));
  for (std::size_t i = 0; i <= MemoryMonitor::Changes::max_ranges; ++i)
    madvise(pages.at(2 * i), page, MADV_DONTNEED);
  EXPECT_NE(use(others.at(0), page), number);
}

TEST_F(RegistrationCacheTest, AnAddressIsNotFoundThatAnotherThreadIsStillUnmapping) {
  constexpr std::size_t size = 8;
  int taken_over = 0;
  // A busy machine seldom lets this thread in between.
  for (int round = 0; round < 5000 && taken_over < 20; ++round) {
    void* memory = mmap(nullptr, size * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    const std::uintptr_t number = use(memory, size * page);
    std::atomic<bool> returned{false};
    std::thread other([&] {
      munmap(memory, size * page);
      returned = true;
    });
    // Taken as soon as it is free, which is before the other thread has come out of munmap.
    const auto take = [&] {
      return mmap(memory, size * page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == memory;
    };
    bool mine = take();
    while (!mine && !returned) mine = take();
    if (mine && !returned) ++taken_over;
    if (!mine && !take()) {
      // Something else of the process lies there now.
      other.join();
      continue;
    }
    const std::uintptr_t anew = use(memory, size * page);
    EXPECT_NE(anew, number);
    EXPECT_NE(anew, 0U);
    other.join();
    munmap(memory, size * page);
  }
  EXPECT_GT(taken_over, 0) << "the addresses were never taken in time, so nothing was tried";
}

TEST_F(RegistrationCacheTest, NoThreadWaitsForWhatAnotherRegisters) {
  const Pages pages(20);
  const std::uintptr_t there = use(pages.at(0), page);
  ledger.before_adding = [&] {
    EXPECT_EQ(use(pages.at(0), page), there);
    EXPECT_NE(use(pages.at(16), page), 0U);
    // A part of what is being registered, and memory that touches it.
    EXPECT_EQ(cache->hold(pages.at(9), page), nullptr);
    EXPECT_NE(use(pages.at(12), page), 0U);
  };
  const std::uintptr_t number = use(pages.at(8), 4 * page);
  EXPECT_NE(number, 0U);
  EXPECT_EQ(use(pages.at(9), page), number);
}

TEST_F(RegistrationCacheTest, WhatIsUnmappedWhileItIsRegisteredIsNotFound) {
  const Pages pages(8);
  ledger.before_adding = [&] { madvise(pages.at(1), page, MADV_DONTNEED); };
  const std::uintptr_t stale = use(pages.at(0), 4 * page);
  EXPECT_NE(stale, 0U);
  EXPECT_NE(use(pages.at(0), 4 * page), stale);
  EXPECT_EQ(ledger.registered.size(), 1U);
}

TEST_F(RegistrationCacheTest, WhatNoThreadUsesIsGivenUpWhenAsked) {
  const Pages pages(20);
  const std::uintptr_t first = use(pages.at(0), page);
  const std::uintptr_t second = use(pages.at(5), page);
  RegistrationCache::Piece* held = cache->hold(pages.at(10), page);
  ASSERT_NE(held, nullptr);
  EXPECT_TRUE(cache->give_up_one());
  EXPECT_FALSE(ledger.registered.contains(first));
  EXPECT_TRUE(ledger.registered.contains(second));
  EXPECT_TRUE(cache->give_up_one());
  EXPECT_FALSE(cache->give_up_one());
  EXPECT_EQ(ledger.registered.size(), 1U);
  cache->release(*held);
}

TEST_F(RegistrationCacheTest, ThreadsMayUnmapWhileOthersTransfer) {
  make({.bytes = 4096 * page, .pieces = 64});
  constexpr std::size_t size = 8;
  std::atomic<int> mistakes{0};
  std::atomic<int> held{0};
  const auto work = [&] {
    for (int round = 0; round < 200; ++round) {
      const Pages pages(size);
      RegistrationCache::Piece* piece = cache->hold(pages.at(0), size * page);
      // Next to what was here before, and another thread registers along with its own.
      if (piece == nullptr) continue;
      ++held;
      if (piece->pages.end - piece->pages.begin < size * page) ++mistakes;
      cache->release(*piece);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mistakes, 0);
  EXPECT_GT(held, 0);
  // None of that is in the way of those that come after them.
  const Pages pages(size);
  RegistrationCache::Piece* const piece = cache->hold(pages.at(0), size * page);
  ASSERT_NE(piece, nullptr);
  cache->release(*piece);
}

}  // namespace
}  // namespace gex::net
