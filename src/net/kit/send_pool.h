#pragma once
// The buffers that messages are sent from.
//
// A message that the network does not take over inside the call is copied into one of these, or was
// built in it, and stays there until the network has released it. All have room for the largest
// message; memory is used once a buffer is, and made ready for the network, registered for example,
// some buffers at a time.
//
// `Buffer` stands in front of a buffer's bytes and is aligned to a cache line at least. It has
// `std::byte* payload()`, the place where a payload is built.
//
// Thread rules: any where the network is `threaded`.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/spin_lock.h"

namespace gex::net {

template <class Buffer>
class SendPool {
 public:
  /// Makes memory ready of which buffers are about to be made, and fills in what each of them
  /// begins with; false: this memory cannot be used, and there are no more buffers for now.
  using Prepare = std::function<bool(std::span<std::byte> memory, Buffer& prototype)>;

  /// `size`: bytes of a buffer, a multiple of its alignment.
  SendPool(std::size_t count, std::size_t size, bool threaded, Prepare prepare)
      : count_(count),
        stride_(sizeof(Buffer) + size),
        threaded_(threaded),
        prepare_(std::move(prepare)) {
    // Address space only; a page exists once it is used.
    void* const memory = mmap(nullptr, count * stride_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<std::byte*>(memory);
  }
  SendPool(const SendPool&) = delete;
  SendPool& operator=(const SendPool&) = delete;
  ~SendPool() {
    if (memory_ != nullptr) munmap(memory_, count_ * stride_);
  }

  /// False: there were no addresses for so many, and the pool must not be used.
  bool has_memory() const noexcept { return memory_ != nullptr; }

  /// A free buffer, or null: all are in use, or no more memory can be made ready.
  Buffer* take() {
    const OptionalGuard guard(mutex_, threaded_);
    if (free_.empty()) grow();
    if (free_.empty()) return nullptr;
    Buffer* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(Buffer* buffer) {
    const OptionalGuard guard(mutex_, threaded_);
    GEX_ASSERT(free_.size() < ready_);
    free_.push_back(buffer);
  }

  /// Buffers that are not free. Only while no other call is in progress.
  std::size_t taken() const noexcept { return ready_ - free_.size(); }

  /// The buffer whose payload begins there, or null.
  Buffer* built_at(const void* payload) const noexcept {
    const std::size_t offset =
        reinterpret_cast<std::uintptr_t>(payload) - reinterpret_cast<std::uintptr_t>(memory_);
    if (offset >= count_ * stride_) return nullptr;
    Buffer* buffer = at(offset / stride_);
    return buffer->payload() == payload ? buffer : nullptr;
  }

 private:
  /// Buffers that are made ready at once: of the largest messages, about a megabyte.
  static constexpr std::size_t batch = 64;

  Buffer* at(std::size_t index) const noexcept {
    return reinterpret_cast<Buffer*>(memory_ + index * stride_);
  }
  /// Makes the next buffers that were never used ready. The mutex is held.
  void grow() {
    const std::size_t more = std::min(batch, count_ - ready_);
    Buffer prototype{};
    if (more == 0 || !prepare_({memory_ + ready_ * stride_, more * stride_}, prototype)) return;
    for (std::size_t i = more; i-- > 0;) free_.push_back(new (at(ready_ + i)) Buffer(prototype));
    ready_ += more;
  }

  const std::size_t count_;
  const std::size_t stride_;
  const bool threaded_;
  const Prepare prepare_;
  std::byte* memory_ = nullptr;
  std::mutex mutex_;
  std::size_t ready_ = 0;  ///< buffers that have been made ready
  std::vector<Buffer*> free_;
};

}  // namespace gex::net
