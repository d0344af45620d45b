// Buffers for payloads that copies of devices' memory go through: kept for the class that made
// them.

#include "rma/staging_buffer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>

namespace gex::rma {
namespace {

struct Device final : MemoryKind {
  explicit Device(net::MemoryClass its_class) : MemoryKind(its_class, 0) {}
  void copy(void*, const void*, std::size_t) const noexcept override {}
  void begin_copy(void*, const void*, std::size_t, CompletionTarget,
                  CompletionTarget) const noexcept override {}
  void* allocate(std::size_t, std::string&) const override { return nullptr; }
  void release(void*, std::size_t) const noexcept override {}
  std::optional<std::string> refuses(const void*, std::size_t) const override { return {}; }
  void* allocate_host(std::size_t bytes) const noexcept override {
    void* const memory = std::malloc(bytes);
    made.insert(memory);
    return memory;
  }
  bool has_made(StagingBuffer& buffer) const { return made.count(buffer.bytes()) != 0; }

  mutable std::set<const void*> made;
};

TEST(StagingBuffer, IsKeptForKindsOfItsClassAlone) {
  const Device cuda(net::cuda_memory);
  const Device hip(net::hip_memory);
  EXPECT_TRUE(cuda.has_made(*StagingBuffer::of(cuda, /*only_kept=*/false)));
  EXPECT_TRUE(hip.has_made(*StagingBuffer::of(hip, /*only_kept=*/false)));
  EXPECT_TRUE(cuda.has_made(*StagingBuffer::of(cuda, /*only_kept=*/false)));
  // Each came back to where it was made.
  EXPECT_EQ(cuda.made.size(), 1U);
  EXPECT_EQ(hip.made.size(), 1U);
}

}  // namespace
}  // namespace gex::rma
