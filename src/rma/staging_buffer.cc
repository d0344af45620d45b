#include "rma/staging_buffer.h"

#include <array>
#include <vector>

#include "am/message.h"
#include "base/immortal.h"
#include "base/spin_lock.h"

namespace gex::rma {

namespace {

/// The number of buffers that are kept for a class; further ones are allocated and freed.
constexpr std::size_t max_kept = 64;

struct Buffers {
  SpinLock lock;
  std::vector<std::byte*> kept;
  std::size_t made = 0;
};
/// A pool for each class of memory, whose driver has made its buffers if it could.
Immortal<std::array<Buffers, net::max_memory_classes>> the_buffers;

}  // namespace

std::unique_ptr<StagingBuffer> StagingBuffer::of(const MemoryKind& kind, bool may_refuse) noexcept {
  const net::MemoryClass of_class = kind.memory_class;
  Buffers& buffers = the_buffers.get()[of_class];
  bool makes = false;
  {
    const OptionalGuard guard(buffers.lock, true);
    if (!buffers.kept.empty()) {
      std::byte* const bytes = buffers.kept.back();
      buffers.kept.pop_back();
      return std::unique_ptr<StagingBuffer>(new StagingBuffer(bytes, true, of_class));
    }
    makes = buffers.made < max_kept;
    if (makes) ++buffers.made;
  }
  if (!makes && may_refuse) return nullptr;
  void* const made = makes ? kind.allocate_host(max_medium_payload) : nullptr;
  std::byte* const bytes =
      made != nullptr ? static_cast<std::byte*>(made) : new std::byte[max_medium_payload];
  return std::unique_ptr<StagingBuffer>(new StagingBuffer(bytes, makes, of_class));
}

StagingBuffer::~StagingBuffer() {
  if (!is_kept_) {
    delete[] bytes_;
    return;
  }
  Buffers& buffers = the_buffers.get()[class_];
  const OptionalGuard guard(buffers.lock, true);
  buffers.kept.push_back(bytes_);
}

}  // namespace gex::rma
