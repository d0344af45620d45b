// Registrations that hold on to their pages: what is found again, and that memory which is another
// by now is noticed.

#include "net/emu/adapter.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "ranks.h"

namespace gex::net::emu {
namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
constexpr int usual = PROT_READ | PROT_WRITE;

class Memory {
 public:
  explicit Memory(std::size_t pages)
      : size_(pages * page), begin_(static_cast<char*>(mmap(nullptr, size_, usual, flags, -1, 0))) {
    std::memset(begin_, 1, size_);
  }
  ~Memory() { munmap(begin_, size_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* at(std::size_t number) const { return begin_ + number * page; }
  std::size_t size() const { return size_; }
  Range pages() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
    return {begin, begin + size_};
  }
  /// Another page, with other bytes, in the place of one.
  void replace(std::size_t number) const {
    ASSERT_EQ(mmap(at(number), page, usual, flags | MAP_FIXED, -1, 0), at(number));
    std::memset(at(number), 2, page);
  }

 private:
  static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  std::size_t size_;
  char* begin_;
};

TEST(EmuKeptPages, AreThereWhateverIsWrittenToThem) {
  const Memory memory(5);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->are_at(memory.at(0), memory.size()));
  std::memset(memory.at(0), 9, memory.size());
  EXPECT_TRUE(kept->are_at(memory.at(0), memory.size()));
  EXPECT_TRUE(kept->are_at(memory.at(2) + 5, 1));
}

TEST(EmuKeptPages, WereNeverWrittenBefore) {
  const Memory memory(2);
  madvise(memory.at(0), memory.size(), MADV_DONTNEED);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  std::memset(memory.at(0), 9, memory.size());
  EXPECT_TRUE(kept->are_at(memory.at(0), memory.size()));
}

TEST(EmuKeptPages, AreMissedWhereAnotherPageIs) {
  const Memory memory(5);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  memory.replace(3);
  EXPECT_FALSE(kept->are_at(memory.at(0), memory.size()));
  EXPECT_FALSE(kept->are_at(memory.at(3) + 17, 1));
  EXPECT_TRUE(kept->are_at(memory.at(0), 3 * page));
  EXPECT_TRUE(kept->are_at(memory.at(4), page));
}

TEST(EmuKeptPages, AreMissedWhereMemoryWasEmptied) {
  const Memory memory(2);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  madvise(memory.at(1), page, MADV_DONTNEED);
  EXPECT_FALSE(kept->are_at(memory.at(0), memory.size()));
}

TEST(EmuKeptPages, AreSomeOfMany) {
  const Memory memory(100);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->are_at(memory.at(0), memory.size()));
  for (std::size_t number = 40; number < 50; ++number) memory.replace(number);
  EXPECT_FALSE(kept->are_at(memory.at(0), memory.size()));
}

TEST(EmuKeptPages, MayBeReadOnly) {
  const Memory memory(2);
  ASSERT_EQ(mprotect(memory.at(0), memory.size(), PROT_READ), 0);
  const auto kept = KeptPages::of(memory.pages());
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->are_at(memory.at(0), memory.size()));
}

TEST(EmuKeptPages, AreAbsentWhereThereIsNoMemory) {
  const Memory memory(3);
  ASSERT_EQ(munmap(memory.at(1), page), 0);
  EXPECT_EQ(KeptPages::of(memory.pages()), nullptr);
}

class EmuAdapter : public testing::Test {
 protected:
  void SetUp() override {
    host.fatal = die;
    host.warn = keep;
    warned.clear();
    adapter = Adapter::start(host, 64 * page);
    if (!adapter) GTEST_SKIP() << warned;
  }

  static void keep(const char* text) { warned = text; }
  /// Returns true if it was registered before.
  bool use(const void* local, std::size_t size) const {
    const Adapter::Use use = adapter->use(local, size);
    EXPECT_NE(use.piece, nullptr);
    if (use.piece != nullptr) adapter->release(*use.piece);
    return use.was_registered;
  }

  static inline std::string warned;
  Host host{};
  std::unique_ptr<Adapter> adapter;
};

TEST_F(EmuAdapter, FindsWhatIsRegistered) {
  const Memory memory(8);
  EXPECT_FALSE(use(memory.at(1), 3 * page));
  EXPECT_TRUE(use(memory.at(1), 3 * page));
  EXPECT_TRUE(use(memory.at(2) + 3, 9));
  EXPECT_FALSE(use(memory.at(3), 2 * page));
}

TEST_F(EmuAdapter, RegistersAgainWhatWasUnmapped) {
  const Memory memory(8);
  EXPECT_FALSE(use(memory.at(0), memory.size()));
  memory.replace(4);
  EXPECT_FALSE(use(memory.at(0), memory.size()));
  madvise(memory.at(2), page, MADV_DONTNEED);
  EXPECT_FALSE(use(memory.at(0), memory.size()));
  EXPECT_TRUE(use(memory.at(0), memory.size()));
}

TEST_F(EmuAdapter, RegistersForOnceWhatIsTooMuch) {
  const Memory memory(65);
  for (int round = 0; round < 2; ++round) {
    const Adapter::Use use = adapter->use(memory.at(0), memory.size());
    EXPECT_EQ(use.piece, nullptr);
    EXPECT_FALSE(use.was_registered);
  }
}

// The parent of a fork that writes first gets another page, which no monitor reports: what breaks
// programs that fork on real networks.
TEST_F(EmuAdapter, EndsTheJobWhenTheMemoryIsAnotherOne) {
  const auto fork_and_write = [&] {
    const Memory memory(2);
    use(memory.at(0), memory.size());
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    if (fork() == 0) {
      close(ends[1]);
      char end;
      // Until the parent has ended.
      _exit(static_cast<int>(read(ends[0], &end, 1)));
    }
    // The child has the older page.
    std::memset(memory.at(1), 3, page);
    adapter->use(memory.at(0), memory.size());
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fork_and_write(), testing::ExitedWithCode(7), "not the memory any more");
}

}  // namespace
}  // namespace gex::net::emu
