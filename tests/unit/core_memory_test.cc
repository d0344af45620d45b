// The one way in and out of segments of other kinds of memory than the host's.

#include "core/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

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
template <Inverted& own>
void copy(void* to, const void* from, std::size_t bytes) noexcept {
  ++copies;
  const bool inverts = is_in(own, to) != is_in(own, from);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::byte value = static_cast<const std::byte*>(from)[i];
    static_cast<std::byte*>(to)[i] = inverts ? ~value : value;
  }
}
constexpr MemoryKind kind{"INVERTED", net::cuda_memory, 0, copy<first>};
constexpr MemoryKind other_kind{"ALSO", net::hip_memory, 1, copy<second>};

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

TEST_F(Memory, IsRefusedWithTheReasonWhereOnlyTheHostsWill) {
  add_memory(first.bytes, Inverted::size, kind);
  require_host_memory(second.bytes, "src", "gex_Call");
  EXPECT_DEATH(require_host_memory(first.bytes + 5, "src", "gex_Call"),
               "gex_Call: src is memory of the kind INVERTED, and this operation works on host "
               "memory only");
  remove_memory(first.bytes);
}

}  // namespace
}  // namespace gex
