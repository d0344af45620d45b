#pragma once
// Records of one kind, a bounded number, made some at a time and used again.
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <memory>
#include <vector>

#include "base/assert.h"

namespace gex::net::udp {

/// `Object` has a member `next`, the pool's while it is free, and is reset when it is taken.
template <class Object>
class ObjectPool {
 public:
  explicit ObjectPool(std::size_t max_objects) : max_objects_(max_objects) {}

  /// Null when `max_objects` are in use.
  Object* take() {
    if (free_ == nullptr && made_ < max_objects_) grow();
    Object* object = free_;
    if (object == nullptr) return nullptr;
    free_ = object->next;
    *object = Object{};
    ++taken_;
    return object;
  }
  void give_back(Object* object) noexcept {
    GEX_ASSERT(taken_ != 0);
    object->next = free_;
    free_ = object;
    --taken_;
  }
  std::size_t left() const noexcept { return max_objects_ - taken_; }
  std::size_t taken() const noexcept { return taken_; }

 private:
  static constexpr std::size_t at_once = 64;

  void grow() {
    blocks_.push_back(std::make_unique<Object[]>(at_once));
    for (std::size_t i = at_once; i-- > 0;) {
      blocks_.back()[i].next = free_;
      free_ = &blocks_.back()[i];
    }
    made_ += at_once;
  }

  const std::size_t max_objects_;
  std::size_t made_ = 0;
  std::size_t taken_ = 0;
  Object* free_ = nullptr;
  std::vector<std::unique_ptr<Object[]>> blocks_;
};

}  // namespace gex::net::udp
