#pragma once
// Sets of ranks as runs, so that many ranks at equal distances take as much memory as one does, and
// what is done with them as many steps.
//
//   {0, 512, 2}            0, 2, 4, ... 1022
//   {0, 512, 2, 1, 2}      these wait for 1, 3, 5, ... 1023

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gex::launch {

/// The number of ranks up to which each has a report of its own; of more there are classes.
inline constexpr std::size_t max_ranks_in_full = 1024;

/// The number of runs that a list in a line has.
inline constexpr std::size_t max_listed_runs = 64;

/// Ranks `first`, first + stride, ...; those of them wait for `peer`, peer + peer_stride, ...
struct RankRun {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t stride = 1;
  std::optional<std::uint32_t> peer;
  std::int32_t peer_stride = 0;

  std::uint32_t rank(std::uint32_t i) const noexcept { return first + i * stride; }
  std::uint32_t last() const noexcept { return rank(count - 1); }
  /// The peer of `rank(i)`, if it has one.
  std::uint32_t peer_of(std::uint32_t i) const noexcept {
    return *peer + i * static_cast<std::uint32_t>(peer_stride);
  }
  /// Returns true if all of them wait for one rank.
  bool has_one_peer() const noexcept { return count == 1 || peer_stride == 0; }
  /// Which of them a rank is; empty: none.
  std::optional<std::uint32_t> index_of(std::uint32_t wanted) const noexcept;
  bool operator==(const RankRun&) const = default;
};

RankRun run_of(std::uint32_t rank);

/// The ranks number `from`, from + step, ... of a run, with their peers.
RankRun part_of(const RankRun& run, std::uint32_t from, std::uint32_t step, std::uint32_t count);

/// The ranks of a run that are in another one too, with their peers in the first.
std::optional<RankRun> common_of(const RankRun& run, const RankRun& other);

/// The ranks of a run that are not in another one, with their peers.
std::vector<RankRun> rest_of(const RankRun& run, const RankRun& other);

/// The peers of a run's ranks as a run.
RankRun peers_of(const RankRun& run);

struct RankRuns {
  /// Runs beyond so many are only counted.
  static constexpr std::size_t max_runs = 1024;

  std::vector<RankRun> runs;  ///< by their first rank
  std::uint64_t count = 0;    ///< ranks, those of runs that were left out among them

  bool empty() const noexcept { return count == 0; }
  std::uint64_t listed() const noexcept;
  std::uint32_t lowest() const noexcept { return runs.front().first; }
  bool operator==(const RankRuns&) const = default;
};

/// The ranks of runs that have none in common; runs that continue one another are joined.
RankRuns joined(std::vector<RankRun> runs);
/// The ranks of runs, which may have some in common. Their peers are left out.
RankRuns united(std::vector<RankRun> runs);
RankRuns only(std::uint32_t rank);
/// Puts sets of ranks together.
class RankUnion {
 public:
  void add(const RankRuns& ranks);
  /// Ranks that are not listed count in each of the sets.
  RankRuns take();

 private:
  std::vector<RankRun> runs_;
  std::uint64_t unlisted_ = 0;
};
/// The listed ranks without those of these runs.
std::vector<RankRun> without(std::vector<RankRun> ranks, const std::vector<RankRun>& taken);

/// The lowest listed ranks, at most so many.
std::vector<std::uint32_t> first_of(const RankRuns& ranks, std::size_t max_ranks);

/// "0-1023, 2048, 4096-8190 by 2", with at most so many runs, and the number of further ranks.
std::string list_of(const RankRuns& ranks, std::size_t max_runs);
/// "0", "0-3", "0-3, 7"; a list that is too long for a line ends with the number of ranks left out.
std::string list_of(const std::vector<std::uint32_t>& ranks);
/// "rank 0", "ranks 0-3, 7"; many ranks as runs.
std::string ranks_of(const RankRuns& ranks);
/// "rank 5", or "ranks 1-7, 0, in this order": whom each of these waits for.
std::string peers_in_order(const std::vector<RankRun>& runs);

}  // namespace gex::launch
