#pragma once
// The memory into which datagrams arrive. A message is delivered where it lies, so a buffer is held
// until the last of its messages has been handled; a message that came in parts is put together in
// a buffer of its own.
//
// Messages of a channel that this process does not poll must not take the buffers that those of the
// other need: each channel may hold a share, and some buffers belong to neither, for what is
// received next.
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/cache_line.h"
#include "net/udp/wire.h"

namespace gex::net::udp {

class ReceiveBuffers {
 public:
  struct alignas(cache_line) Buffer {
    Buffer* next;
    std::uint32_t messages;  ///< in it that are not handled yet
    std::uint32_t channels;  ///< bits: of these channels
    // 8 bytes before a multiple of 16: see wire.h. And in the midst of a line: some processors copy
    // at a sixth of their speed what is to lie up to 15 bytes further in its page than it did, and
    // both what the kernel copies from and where a put goes begin with a line as a rule.
    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1) + front; }
    static constexpr std::size_t front = 40;
    /// Where a message is put together.
    std::byte* message() noexcept { return reinterpret_cast<std::byte*>(this + 1) + 16; }
  };

  /// `reserve`: buffers that hold no messages, for receiving.
  ReceiveBuffers(std::size_t count, std::size_t room, std::size_t reserve)
      : count_(count),
        room_(room),
        stride_((sizeof(Buffer) + Buffer::front + room + cache_line - 1) / cache_line * cache_line),
        share_((count - reserve) / 2) {
    void* const memory = mmap(nullptr, count_ * stride_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<std::byte*>(memory);
  }
  ReceiveBuffers(const ReceiveBuffers&) = delete;
  ReceiveBuffers& operator=(const ReceiveBuffers&) = delete;
  ~ReceiveBuffers() {
    if (memory_ != nullptr) munmap(memory_, count_ * stride_);
  }

  bool has_memory() const noexcept { return memory_ != nullptr; }
  std::size_t room() const noexcept { return room_; }

  /// A free buffer, for receiving. There is always one as long as `reserve` are not taken at a
  /// time.
  Buffer* take() noexcept {
    Buffer* buffer = free_;
    if (buffer != nullptr)
      free_ = buffer->next;
    else if (fresh_ < count_)
      buffer = reinterpret_cast<Buffer*>(memory_ + stride_ * fresh_++);
    else
      return nullptr;
    buffer->messages = 0;
    buffer->channels = 0;
    return buffer;
  }
  void give_back(Buffer& buffer) noexcept {
    for (unsigned channel = 0; channel < held_.size(); ++channel)
      if ((buffer.channels >> channel & 1) != 0) {
        GEX_ASSERT(held_[channel] != 0);
        --held_[channel];
      }
    buffer.channels = 0;
    buffer.next = free_;
    free_ = &buffer;
  }

  /// Returns true if messages of a channel may stay in this buffer, or in `more` others.
  bool may_hold(Channel channel, const Buffer& buffer) const noexcept {
    return (buffer.channels >> channel & 1) != 0 || may_hold(channel);
  }
  bool may_hold(Channel channel) const noexcept { return held_[channel] < share_; }
  /// Another message of a channel stays in it.
  void hold(Channel channel, Buffer& buffer) noexcept {
    ++buffer.messages;
    if ((buffer.channels >> channel & 1) != 0) return;
    buffer.channels |= 1U << channel;
    ++held_[channel];
  }
  /// A message has been handled.
  void release(Buffer& buffer) noexcept {
    GEX_ASSERT(buffer.messages != 0);
    if (--buffer.messages == 0) give_back(buffer);
  }
  /// Returns true if a channel holds so few that it may be sent more again after it was stopped.
  bool has_recovered(Channel channel) const noexcept { return held_[channel] <= share_ / 2; }
  std::size_t held(Channel channel) const noexcept { return held_[channel]; }

 private:
  const std::size_t count_;
  const std::size_t room_;
  const std::size_t stride_;
  const std::size_t share_;
  std::byte* memory_ = nullptr;
  Buffer* free_ = nullptr;
  std::size_t fresh_ = 0;
  std::array<std::size_t, 2> held_{};
};

/// A message that has arrived and waits to be delivered.
struct Arrival {
  const std::byte* message;
  std::uint32_t size;
  std::uint32_t source;
  ReceiveBuffers::Buffer* buffer;
};

/// The arrivals of one channel, oldest first.
class ArrivalQueue {
 public:
  ArrivalQueue() : ring_(64) {}
  std::size_t count() const noexcept { return count_; }
  void push(const Arrival& arrival) {
    if (count_ == ring_.size()) grow();
    ring_[(first_ + count_++) & (ring_.size() - 1)] = arrival;
  }
  /// The oldest; requires `count() != 0`.
  const Arrival& front() const noexcept { return ring_[first_]; }
  Arrival pop() noexcept {
    GEX_ASSERT(count_ != 0);
    const Arrival arrival = ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
    return arrival;
  }

 private:
  void grow() {
    std::vector<Arrival> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Arrival> ring_;  ///< a power of two of them
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace gex::net::udp
