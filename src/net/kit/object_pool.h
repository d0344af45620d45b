#pragma once
// Records of one kind, a bounded number, made some at a time and used again.
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "base/assert.h"

namespace gex::net {

/// `Object` has a member `next`, the pool's while it is free. When one is taken its members have
/// what they are declared with; those without such a value may have any.
template <class Object>
class ObjectPool {
 public:
  explicit ObjectPool(std::size_t max_objects = ~std::size_t{0}) : max_objects_(max_objects) {}

  /// Null when `max_objects` are in use.
  Object* take() {
    if (taken_ == max_objects_) return nullptr;
    if (free_ == nullptr) grow();
    Object* object = free_;
    free_ = object->next;
    ++taken_;
    return new (object) Object;
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
    blocks_.push_back(std::make_unique_for_overwrite<Object[]>(at_once));
    for (std::size_t i = at_once; i-- > 0;) {
      blocks_.back()[i].next = free_;
      free_ = &blocks_.back()[i];
    }
  }

  const std::size_t max_objects_;
  std::size_t taken_ = 0;
  Object* free_ = nullptr;
  std::vector<std::unique_ptr<Object[]>> blocks_;
};

}  // namespace gex::net
