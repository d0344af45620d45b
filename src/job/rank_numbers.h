#pragma once
// A number for each rank of the job, such as that of its host. Ranks that follow one another have
// equal ones as a rule: then there is an entry for each run of them and not for each rank. Or they
// have the same numbers again and again, as if dealt to hosts in turn: then there is one turn.
//
// Does not change once it is made. Thread rules: any.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "job/rank_set.h"

namespace gex::job {

class RankNumbers {
 public:
  RankNumbers() = default;
  explicit RankNumbers(std::span<const std::uint32_t> numbers) : size_(numbers.size()) {
    for (std::uint32_t rank = 0; rank < numbers.size(); ++rank)
      if (rank == 0 || numbers[rank] != numbers[rank - 1]) runs_.push_back({rank, numbers[rank]});
    if (sizeof(Run) * runs_.size() <= numbers.size_bytes()) {
      runs_.shrink_to_fit();
      return;
    }
    runs_ = {};
    const auto again = std::find(numbers.begin() + 1, numbers.end(), numbers.front());
    const bool repeats = std::equal(again, numbers.end(), numbers.begin());
    each_.assign(numbers.begin(), repeats ? again : numbers.end());
  }

  std::size_t size() const noexcept { return size_; }
  std::uint32_t operator[](std::uint32_t rank) const noexcept {
    if (!each_.empty()) return each_[rank % each_.size()];
    const auto behind = std::upper_bound(
        runs_.begin(), runs_.end(), rank,
        [](std::uint32_t wanted, const Run& run) noexcept { return wanted < run.first; });
    return (behind - 1)->number;
  }
  /// The ranks that have this number.
  RankSet ranks_of(std::uint32_t number) const {
    RankSet ranks;
    for (std::uint32_t rank = 0; !each_.empty() && rank < size_; ++rank)
      if ((*this)[rank] == number) ranks.add(rank);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].number != number) continue;
      const std::size_t end = i + 1 < runs_.size() ? runs_[i + 1].first : size_;
      for (std::uint32_t rank = runs_[i].first; rank < end; ++rank) ranks.add(rank);
    }
    return ranks;
  }
  std::vector<std::uint32_t> listed() const {
    std::vector<std::uint32_t> numbers(size_);
    for (std::uint32_t rank = 0; rank < size_; ++rank) numbers[rank] = (*this)[rank];
    return numbers;
  }
  /// Bytes that its entries take.
  std::size_t bytes() const noexcept {
    return runs_.size() * sizeof(Run) + each_.size() * sizeof each_[0];
  }

 private:
  struct Run {
    std::uint32_t first;  ///< rank
    std::uint32_t number;
  };
  std::size_t size_ = 0;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> each_;  ///< in place of runs, where those would take more: one turn
};

}  // namespace gex::job
