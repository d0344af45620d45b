#pragma once
// The tree by which a team exchanges: who gathers from whom, and who passes the whole on to whom.
//
// A rank's parent has the rank's lowest digit that is not 0 cleared, in a number system of base
// `fan`. So a subtree is a range of ranks that begins with its root, and the subtrees of a rank's
// children follow one another behind it: what they have gathered is in rank order as it comes. A
// member has less than `fan` children for each digit of the team's size, and blocks travel no
// further than there are digits. Up to `fan` members all have rank 0 as their parent.
//
// All are values, for any number of ranks.

#include <algorithm>
#include <cstdint>

namespace gex::team {

class ExchangeTree {
 public:
  static constexpr std::uint32_t fan = 8;

  constexpr explicit ExchangeTree(std::uint32_t size) noexcept : size_(size) {}

  /// Requires `rank != 0`.
  static constexpr std::uint32_t parent(std::uint32_t rank) noexcept {
    const std::uint64_t unit = unit_of(rank);
    return static_cast<std::uint32_t>(rank - rank / unit % fan * unit);
  }
  /// The rank behind the last one of the subtree that begins with `rank`.
  constexpr std::uint32_t end(std::uint32_t rank) const noexcept {
    return rank == 0 ? size_ : bounded(rank + unit_of(rank));
  }
  /// Calls `use(child)` in rising order.
  template <class Use>
  constexpr void for_each_child(std::uint32_t rank, Use use) const {
    const std::uint64_t behind = end(rank);
    for (std::uint64_t unit = 1; rank + unit < behind; unit *= fan)
      for (std::uint64_t child = rank + unit; child < behind && child < rank + fan * unit;
           child += unit)
        use(static_cast<std::uint32_t>(child));
  }
  constexpr std::uint32_t children(std::uint32_t rank) const noexcept {
    std::uint32_t count = 0;
    for_each_child(rank, [&](std::uint32_t) { ++count; });
    return count;
  }

 private:
  /// The value of one in the rank's lowest digit that is not 0.
  static constexpr std::uint64_t unit_of(std::uint32_t rank) noexcept {
    std::uint64_t unit = 1;
    while (rank / unit % fan == 0) unit *= fan;
    return unit;
  }
  constexpr std::uint32_t bounded(std::uint64_t rank) const noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(rank, size_));
  }

  std::uint32_t size_;
};

}  // namespace gex::team
