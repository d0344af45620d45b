// Buffers for payloads that copies of devices' memory go through: kept for the class that made
// them, and as many of a class that makes none.

#include "rma/staging_buffer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "../inert_kind.h"

namespace gex::rma {
namespace {

struct Device final : InertKind {
  explicit Device(net::MemoryClass its_class, bool makes_host_memory = true)
      : InertKind(its_class), makes(makes_host_memory) {}
  void* allocate_host(std::size_t bytes) const noexcept override {
    if (!makes) return nullptr;
    void* const memory = std::malloc(bytes);
    made.insert(memory);
    return memory;
  }
  bool has_made(StagingBuffer& buffer) const { return made.count(buffer.bytes()) != 0; }

  bool makes;
  mutable std::set<const void*> made;
};

TEST(StagingBuffer, IsKeptForKindsOfItsClassAlone) {
  const Device cuda(net::cuda_memory);
  const Device hip(net::hip_memory);
  EXPECT_TRUE(cuda.has_made(*StagingBuffer::of(cuda, /*may_refuse=*/false)));
  EXPECT_TRUE(hip.has_made(*StagingBuffer::of(hip, /*may_refuse=*/false)));
  EXPECT_TRUE(cuda.has_made(*StagingBuffer::of(cuda, /*may_refuse=*/false)));
  // Each came back to where it was made.
  EXPECT_EQ(cuda.made.size(), 1U);
  EXPECT_EQ(hip.made.size(), 1U);
}

TEST(StagingBuffer, IsKeptForKindsWithoutMemoryOfTheHost) {
  const Device plain(net::level_zero_memory, /*makes_host_memory=*/false);
  constexpr std::size_t too_many = 1000;
  std::vector<std::unique_ptr<StagingBuffer>> used;
  std::set<const std::byte*> kept;
  while (used.size() < too_many) {
    std::unique_ptr<StagingBuffer> buffer = StagingBuffer::of(plain, /*may_refuse=*/true);
    if (buffer == nullptr) break;
    kept.insert(buffer->bytes());
    used.push_back(std::move(buffer));
  }
  EXPECT_LT(used.size(), too_many);
  EXPECT_EQ(kept.count(StagingBuffer::of(plain, /*may_refuse=*/false)->bytes()), 0U);
  used.clear();
  EXPECT_EQ(kept.count(StagingBuffer::of(plain, /*may_refuse=*/true)->bytes()), 1U);
}

}  // namespace
}  // namespace gex::rma
