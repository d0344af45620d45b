#pragma once
// The places through which the 8-byte loops go: a list of places in rank 1's segment, in random
// order, small enough for the first-level cache, so that they measure the instructions, not the
// memory.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "machine_limits.h"
#include "sampling.h"

namespace gexperf {

inline constexpr std::uint32_t place_count = 1024;

/// A word in a segment, as a client holds it.
struct Place {
  gex_Rank_t rank;
  std::uint64_t* address;  ///< in its owner's addresses
};

class Words {
 public:
  explicit Words(const Job& job) : team_(job.team()) {
    for (gex_Rank_t rank = 0; rank < job.size(); ++rank)
      displacements_.push_back(job.segment_here(rank) - job.segment_at_owner(rank));
    auto* const first = reinterpret_cast<std::uint64_t*>(job.segment_at_owner(1) + sizeof(Board));
    std::vector<std::uint32_t> order(place_count);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::minstd_rand(1));
    for (const std::uint32_t index : order) places_.push_back({1, first + index});
    if (job.rank() != 0) return;
    for (std::uint32_t i = 0; i < place_count; ++i)
      *here(places_[i]) = reinterpret_cast<std::uintptr_t>(places_[(i + 1) % place_count].address);
  }

  gex_TM_t team() const { return team_; }
  const std::ptrdiff_t* table() const { return displacements_.data(); }
  const Place* places() const { return places_.data(); }
  /// Where a place is in this process.
  std::uint64_t* here(const Place& place) const {
    return reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(place.address) +
                                            displacements_[place.rank]);
  }

 private:
  gex_TM_t team_;
  std::vector<std::ptrdiff_t> displacements_;
  std::vector<Place> places_;
};

/// Does `one(place)` for as many places as asked, in the order of the list; nothing on other ranks.
template <class One>
Repeated over_places(const Job& job, const Words& words, One one) {
  return [&job, &words, one](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    const Place* const places = words.places();
    const One operation = one;
    for (std::uint64_t i = 0; i < repetitions; ++i) operation(places[i % place_count]);
  };
}

}  // namespace gexperf
