#pragma once
// A set of ranks, and its form in messages: "0-2,5".

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace gex::job {

/// Ranks in rising order, such as those of a host or of a neighborhood.
class RankSet {
 public:
  RankSet() = default;
  /// Requires strictly rising ranks.
  explicit RankSet(std::vector<std::uint32_t> rising) : ranks_(std::move(rising)) {}
  RankSet(std::initializer_list<std::uint32_t> rising) : ranks_(rising) {}

  /// Adds a rank. Requires that it is higher than all in the set.
  void add(std::uint32_t rank) { ranks_.push_back(rank); }

  bool contains(std::uint32_t rank) const noexcept {
    return std::binary_search(begin(), end(), rank);
  }
  /// The number of lower ranks in the set, which is the index of a rank that it contains.
  std::uint32_t index_of(std::uint32_t rank) const noexcept {
    return static_cast<std::uint32_t>(std::lower_bound(begin(), end(), rank) - begin());
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }
  bool empty() const noexcept { return ranks_.empty(); }
  std::uint32_t operator[](std::uint32_t index) const noexcept { return ranks_[index]; }
  std::uint32_t front() const noexcept { return ranks_.front(); }
  const std::uint32_t* begin() const noexcept { return ranks_.data(); }
  const std::uint32_t* end() const noexcept { return ranks_.data() + ranks_.size(); }

  bool operator==(const RankSet&) const = default;
  bool operator<(const RankSet& other) const noexcept { return ranks_ < other.ranks_; }

 private:
  std::vector<std::uint32_t> ranks_;
};

/// The ranks as text: "rank 3", "ranks 0-2,5", "no rank". A list that is too long for a line ends
/// with the number of ranks left out.
std::string describe_ranks(const RankSet& ranks);

/// "rank 3 (host node7, pid 4711)".
std::string rank_name(std::uint32_t rank, const std::string& host, int process);

}  // namespace gex::job
