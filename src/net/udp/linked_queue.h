#pragma once
// A queue of what has a `next`: it takes no memory of its own.
//
// Thread rules: one thread at a time.

#include <cstdint>

#include "base/assert.h"

namespace gex::net::udp {

/// First in, first out. What is in a queue is in no other, and outlives its stay.
template <class T>
class LinkedQueue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  T* first() const noexcept { return first_; }
  void push(T* added) noexcept {
    added->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = added;
    last_ = added;
    ++count_;
  }
  T* pop() noexcept {
    GEX_ASSERT(first_ != nullptr && count_ != 0);
    T* const taken = first_;
    first_ = taken->next;
    --count_;
    return taken;
  }
  std::uint32_t count() const noexcept { return count_; }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace gex::net::udp
