#pragma once
// The ranks with which a process has had to do, in the order in which it first had: what looks at
// all peers now and then looks at these, and never at those that are silent. All of it is in this
// header, since plug-ins use it.
//
// Thread rules: any, if it is threaded.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/spin_lock.h"

namespace gex {

class MetRanks {
 public:
  explicit MetRanks(bool threaded = true) : threaded_(threaded) {}

  /// Once for each.
  void add(std::uint32_t rank) {
    const OptionalGuard guard(lock_, threaded_);
    ranks_.push_back(rank);
  }
  std::size_t size() const {
    const OptionalGuard guard(lock_, threaded_);
    return ranks_.size();
  }
  /// Requires that there are more than `place`; they stay where they are.
  std::uint32_t operator[](std::size_t place) const {
    const OptionalGuard guard(lock_, threaded_);
    return ranks_[place];
  }

 private:
  const bool threaded_;
  mutable std::mutex lock_;
  std::vector<std::uint32_t> ranks_;
};

}  // namespace gex
