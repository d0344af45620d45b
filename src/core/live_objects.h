#pragma once
// The objects that clients name by handles: which of them exist, and the form of the handles of
// those whose prefix inline code reads (gex/layout.h).

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "core/process.h"

namespace gex {

/// The objects of a kind that exist. Any thread; an object adds itself when it is whole, and
/// removes itself first of all.
template <class Object>
class LiveObjects {
 public:
  /// `what`: the kind's name, for messages.
  explicit LiveObjects(const char* what) noexcept : what_(what) {}

  void add(Object& object) {
    const std::lock_guard lock(mutex_);
    objects_.push_back(&object);
  }
  /// For a caller that holds the lock.
  void add(Object& object, const std::unique_lock<std::mutex>&) { objects_.push_back(&object); }
  void remove(Object& object) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(objects_, &object);
  }

  /// Keeps objects from coming and going.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  /// Returns the objects that exist; under the lock.
  const std::vector<Object*>& all() const noexcept { return objects_; }

  /// Checked mode: ends the job if there is no such object, or none any more.
  void require(const Object& object, const void* handle, const char* call) noexcept {
    if (!checked()) return;
    const std::lock_guard lock(mutex_);
    if (std::find(objects_.begin(), objects_.end(), &object) == objects_.end())
      fatal("%s: invalid or destroyed %s handle %p", call, what_, handle);
  }

 private:
  const char* what_;
  std::mutex mutex_;
  std::vector<Object*> objects_;
};

/// A base of objects that start with a public prefix, or have one within them.
template <class Object, class Prefix, class Handle>
class TaggedHandle {
 public:
  static Object& from(Handle handle) noexcept {
    return static_cast<Object&>(
        *reinterpret_cast<Prefix*>(reinterpret_cast<std::uintptr_t>(handle) & ~std::uintptr_t{1}));
  }
  /// One that inline code does not look behind where calls are observed, or unless it is `inlined`.
  Handle handle(bool inlined = true) noexcept {
    Prefix* prefix = static_cast<Object*>(this);
    const bool tagged = inlined && !is_inline_withdrawn();
    return reinterpret_cast<Handle>(reinterpret_cast<std::uintptr_t>(prefix) + (tagged ? 1 : 0));
  }
};

}  // namespace gex
