#pragma once
// Finds those of many sets of ranks that may have a rank in common with others, by their lowest and
// greatest ranks.
//
//   ranges.add(low, high, set); ...
//   ranges.sort();
//   ranges.near(low, high, [](const Set& set) { ...; return true; });
//
// Thread rules: any, once it is sorted.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gex::launch {

template <class Set>
class RankRanges {
 public:
  void add(std::uint32_t low, std::uint32_t high, Set set) {
    entries_.push_back({low, high, 0, std::move(set)});
  }
  /// After the last `add`.
  void sort() {
    std::ranges::sort(entries_, {}, &Entry::low);
    std::uint32_t reach = 0;
    for (Entry& one : entries_) one.reach = reach = std::max(reach, one.high);
  }
  /// Calls `visit(set)` for each that reaches into these ranks, until it returns false.
  template <class Visit>
  void near(std::uint32_t low, std::uint32_t high, const Visit& visit) const {
    auto at = std::ranges::upper_bound(entries_, high, {}, &Entry::low);
    while (at != entries_.begin() && (--at)->reach >= low)
      if (at->high >= low && !visit(at->set)) return;
  }

 private:
  struct Entry {
    std::uint32_t low;
    std::uint32_t high;
    std::uint32_t reach;  ///< the greatest `high` of this one and those before
    Set set;
  };
  std::vector<Entry> entries_;
};

}  // namespace gex::launch
