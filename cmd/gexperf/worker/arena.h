#pragma once
// Objects that a measurement lays out in the ranks' segments, behind the board (machine_limits.h).

#include <cstddef>

#include "job.h"
#include "machine_limits.h"

namespace gexperf {

/// Hands out memory of every rank's segment, at the same distance from its beginning on all ranks.
class Arena {
 public:
  explicit Arena(const Job& job) : job_(job) {}

  /// `count` objects in the segment of each rank, of which nothing is initialized here: segments
  /// start as zeros.
  template <class Object>
  struct Array {
    const Job* job;
    std::size_t offset;

    /// The objects of a rank, as mapped into this process.
    Object* here(gex_Rank_t rank) const {
      return reinterpret_cast<Object*>(job->segment_here(rank) + offset);
    }
    /// The objects of a rank in its owner's addresses.
    Object* at_owner(gex_Rank_t rank) const {
      return reinterpret_cast<Object*>(job->segment_at_owner(rank) + offset);
    }
  };
  template <class Object>
  Array<Object> take(std::size_t count) {
    const std::size_t offset = used_;
    used_ += (count * sizeof(Object) + page - 1) / page * page;
    return {&job_, offset};
  }

 private:
  static constexpr std::size_t page = 4096;
  const Job& job_;
  std::size_t used_ = (sizeof(Board) + page - 1) / page * page;
};

}  // namespace gexperf
