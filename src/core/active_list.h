#pragma once
// Objects of this process that wait for something it must do itself, and so want polls.
//
//   ActiveList<TeamBarrier>& list = the_list.get();
//   list.activate(barrier);              // it has work
//   register_poller([]() noexcept { return the_list.get().advance(); });
//
// `T::advance` does what can be done now and returns whether that was anything, `T::idle` whether
// the object has no work until it is activated again. Any thread may call anything; an object is
// taken out (`deactivate`) before it ends.

#include <algorithm>
#include <vector>

#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex {

template <class T>
class ActiveList {
 public:
  void activate(T& object) {
    const OptionalGuard guard(lock_, true);
    if (std::find(objects_.begin(), objects_.end(), &object) != objects_.end()) return;
    objects_.push_back(&object);
    want_polls();
  }

  void deactivate(T& object) noexcept {
    const OptionalGuard guard(lock_, true);
    if (std::erase(objects_, &object) != 0) unwant_polls();
  }

  bool advance() noexcept {
    // One thread at a time: the others' polls have nothing to add.
    if (!lock_.try_lock()) return false;
    bool progressed = false;
    for (std::size_t i = 0; i < objects_.size();) {
      T& object = *objects_[i];
      progressed |= object.advance();
      if (object.idle()) {
        objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(i));
        unwant_polls();
      } else {
        ++i;
      }
    }
    lock_.unlock();
    return progressed;
  }

 private:
  SpinLock lock_;
  std::vector<T*> objects_;
};

}  // namespace gex
