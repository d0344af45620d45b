#pragma once
// A table of numbers that are mostly in equal steps, as indices are, or all equal: then it has two
// of them and no entries.
//
// Thread rules: any; it does not change.

#include <cstddef>
#include <utility>
#include <vector>

namespace gex {

/// `Number`: unsigned; steps back wrap around.
template <class Number>
class SteppedTable {
 public:
  SteppedTable() = default;
  SteppedTable(Number first, Number step) noexcept : first_(first), step_(step) {}
  explicit SteppedTable(std::vector<Number> numbers) {
    if (!numbers.empty()) first_ = numbers[0];
    if (numbers.size() > 1) step_ = static_cast<Number>(numbers[1] - first_);
    bool has_steps = true;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      has_steps = has_steps && numbers[i] == in_steps(i);
    if (!has_steps) each_ = std::move(numbers);
  }

  Number operator[](std::size_t place) const noexcept {
    return each_.empty() ? in_steps(place) : each_[place];
  }
  /// Returns true if all are in equal steps, from the first on.
  bool has_steps() const noexcept { return each_.empty(); }
  Number first() const noexcept { return first_; }
  Number step() const noexcept { return step_; }
  /// Bytes that entries take.
  std::size_t bytes() const noexcept { return each_.capacity() * sizeof(Number); }

 private:
  Number in_steps(std::size_t place) const noexcept {
    return static_cast<Number>(first_ + place * step_);
  }

  Number first_ = 0;
  Number step_ = 0;
  std::vector<Number> each_;  ///< empty: they are in equal steps
};

}  // namespace gex
