#pragma once
// An object that is made and never destroyed.
//
// Polling goes on in exit handlers, after static objects may have been destroyed, and threads may
// outlive main: what they use must not end before the process does. At namespace scope, access is
// the object itself: no guard, no pointer.

#include <cstddef>
#include <new>

namespace gex {

template <class T>
class Immortal {
 public:
  template <class... Arguments>
  explicit Immortal(Arguments... arguments) {
    new (storage_) T(arguments...);
  }
  T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace gex
