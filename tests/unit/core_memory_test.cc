// The one way in and out of segments of other kinds of memory than the host's.

#include "core/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "../inert_kind.h"

namespace gex {
namespace {

/// Memory whose bytes are kept inverted, so that who reads or writes them otherwise is found out.
struct Inverted {
  static constexpr std::size_t size = 10000;
  std::byte bytes[size];
};
Inverted first, second;
int copies = 0;

bool is_in(const Inverted& memory, const void* address) {
  return address >= memory.bytes && address < memory.bytes + Inverted::size;
}
struct InvertedKind final : InertKind {
  constexpr InvertedKind(net::MemoryClass its_class, const Inverted& memory)
      : InertKind(its_class), own(memory) {}
  void copy(void* to, const void* from, std::size_t bytes) const noexcept override {
    ++copies;
    const bool inverts = is_in(own, to) != is_in(own, from);
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::byte value = static_cast<const std::byte*>(from)[i];
      static_cast<std::byte*>(to)[i] = inverts ? ~value : value;
    }
  }

  const Inverted& own;
};
constexpr InvertedKind kind{net::cuda_memory, first};
constexpr InvertedKind other_kind{net::hip_memory, second};

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    std::memset(first.bytes, 0xff, sizeof first.bytes);
    std::memset(second.bytes, 0xff, sizeof second.bytes);
    copies = 0;
  }
  static std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(i * 7 + i / 256);
    return result;
  }
};

TEST_F(Memory, OfTheHostIsCopiedAsEver) {
  const auto bytes = pattern(300);
  std::vector<std::byte> there(300);
  copy_memory(there.data(), bytes.data(), 300);
  EXPECT_EQ(there, bytes);
  EXPECT_EQ(kind_at(there.data()), nullptr);
  EXPECT_EQ(copies, 0);
}

TEST_F(Memory, OfAnotherKindIsCopiedByTheKind) {
  add_memory(first.bytes, Inverted::size, kind);
  EXPECT_EQ(kind_at(first.bytes), &kind);
  EXPECT_EQ(kind_at(first.bytes + Inverted::size - 1), &kind);
  EXPECT_EQ(kind_at(first.bytes + Inverted::size), nullptr);
  EXPECT_EQ(kind_at(first.bytes - 1), nullptr);
  const auto bytes = pattern(5000);
  std::vector<std::byte> back(5000);
  copy_memory(first.bytes + 10, bytes.data(), 5000);
  EXPECT_EQ(first.bytes[10 + 77], ~bytes[77]);
  copy_memory(first.bytes + 5010, first.bytes + 10, 4000);
  copy_memory(back.data(), first.bytes + 5010, 4000);
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 4000, bytes.begin()));
  EXPECT_EQ(copies, 3);
  // Other memory of the host stays the host's.
  copy_memory(back.data(), bytes.data(), 5000);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(copies, 3);
  remove_memory(first.bytes);
  EXPECT_EQ(kind_at(first.bytes), nullptr);
}

TEST_F(Memory, OfTwoKindsGoesThroughTheHosts) {
  add_memory(first.bytes, Inverted::size, kind);
  add_memory(second.bytes, Inverted::size, other_kind);
  const auto bytes = pattern(9000);
  std::vector<std::byte> back(9000);
  copy_memory(first.bytes, bytes.data(), 9000);
  copy_memory(second.bytes + 3, first.bytes, 9000);
  copy_memory(back.data(), second.bytes + 3, 9000);
  EXPECT_EQ(back, bytes);
  remove_memory(first.bytes);
  remove_memory(second.bytes);
}

TEST_F(Memory, IsFilledByTheKind) {
  add_memory(first.bytes, Inverted::size, kind);
  fill_memory(first.bytes + 1, 0x5a, 9000);
  EXPECT_EQ(first.bytes[0], std::byte{0xff});
  EXPECT_EQ(first.bytes[1], ~std::byte{0x5a});
  EXPECT_EQ(first.bytes[9000], ~std::byte{0x5a});
  EXPECT_EQ(first.bytes[9001], std::byte{0xff});
  remove_memory(first.bytes);
}

TEST_F(Memory, IsFoundAmongManySegments) {
  // Every second page of these, in no order, so that all have gaps around them.
  constexpr std::size_t page = 100, pages = Inverted::size / page;
  for (std::size_t i = 0; i < pages; i += 2)
    add_memory(first.bytes + i * 7 % pages * page, page, i % 4 == 0 ? kind : other_kind);
  EXPECT_TRUE(has_other_kinds());
  for (std::size_t i = 0; i < pages; ++i) {
    std::byte* const at = first.bytes + i * page;
    EXPECT_EQ(kind_at(at) != nullptr, i % 2 == 0) << i;
    EXPECT_EQ(kind_at(at + page - 1), kind_at(at)) << i;
  }
  EXPECT_EQ(kind_at(second.bytes), nullptr);
  for (std::size_t i = 0; i < pages; i += 2) remove_memory(first.bytes + i * page);
  EXPECT_FALSE(has_other_kinds());
  EXPECT_EQ(kind_at(first.bytes), nullptr);
}

TEST_F(Memory, IsFoundWhileOthersComeAndGo) {
  add_memory(first.bytes + 5000, 100, kind);
  std::atomic<bool> over{false};
  std::thread reader([&] {
    while (!over) {
      EXPECT_EQ(kind_at(first.bytes + 5050), &kind);
      EXPECT_EQ(kind_at(first.bytes + 5100), nullptr);
    }
  });
  for (int round = 0; round < 500; ++round) {
    for (std::size_t i = 0; i < 40; ++i) add_memory(first.bytes + i * 100, 100, other_kind);
    for (std::size_t i = 0; i < 40; ++i) remove_memory(first.bytes + i * 100);
  }
  over = true;
  reader.join();
  remove_memory(first.bytes + 5000);
}

}  // namespace
}  // namespace gex
