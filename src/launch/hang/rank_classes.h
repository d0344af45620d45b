#pragma once
// Classes of ranks that do the same: how reports of a large job become few, on the way from hosts
// to the launcher and in what it prints.
//
// Two ranks are of one class if their reports differ only in numbers that each has for itself
// (rank, process, host, times, frames' addresses), or in the peer that they wait for. A class has
// the report of its lowest rank, its ranks and their peers as runs, and the range of its times. So
// N ranks that wait for their right neighbors are one class with one run, or two where the last
// waits for the first.
//
// Pure functions. `merge` is associative and commutative as long as nothing is left out, so that
// hosts and agents may merge in any tree.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/hang/rank_report.h"

namespace gex::launch {

/// The number of ranks up to which each has a report of its own; of more there are classes.
inline constexpr std::size_t max_ranks_in_full = 1024;

/// Ranks `first`, first + stride, ...; those of them wait for `peer`, peer + peer_stride, ...
struct RankRun {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t stride = 1;
  std::optional<std::uint32_t> peer;
  std::int32_t peer_stride = 0;

  std::uint32_t last() const noexcept { return first + (count - 1) * stride; }
  bool operator==(const RankRun&) const = default;
};

struct RankClass {
  RankReport example;         ///< of the lowest rank
  std::vector<RankRun> runs;  ///< by their first rank
  std::uint64_t ranks = 0;    ///< in all, those of runs that were left out among them
  double min_cpu_s = 0;
  double max_cpu_s = 0;
  double max_age_s = 0;  ///< of a wait

  bool operator==(const RankClass&) const = default;
};

struct RankClasses {
  /// Classes, and runs of a class, beyond so many are only counted.
  static constexpr std::size_t max_classes = 512;
  static constexpr std::size_t max_runs = 1024;

  std::map<std::string, RankClass> by_key;  ///< the key: what the ranks have in common
  std::uint64_t left_out = 0;               ///< ranks of further classes

  bool operator==(const RankClasses&) const = default;
};

RankClasses classes_of(const std::vector<RankReport>& ranks);
RankClasses merge(RankClasses one, const RankClasses& other);

std::vector<std::byte> encode(const RankClasses& classes);
/// Empty if the bytes are no such thing.
std::optional<RankClasses> decode_classes(std::span<const std::byte> bytes);

/// A report of each rank that is listed in a class and below `ranks`, by rank: that of the class's
/// example, with the rank's own peers. Its process and host are not known; -1 and "" stand for
/// them.
std::vector<RankReport> reports_of(const RankClasses& classes, std::uint32_t ranks);

/// "0-1023, 2048, 4096-8190 by 2", with at most so many runs, and the number of further ranks.
std::string list_of(const RankClass& one, std::size_t max_runs);

}  // namespace gex::launch
