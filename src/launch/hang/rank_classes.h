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
// In a job of few ranks each is a class of its own, so that nothing of its report is lost.
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
#include "launch/hang/rank_runs.h"

namespace gex::launch {

struct RankClass {
  RankReport example;  ///< of the lowest rank
  RankRuns members;    ///< with the peers that they wait for
  double min_cpu_s = 0;
  double max_cpu_s = 0;
  double max_age_s = 0;  ///< of a wait

  bool operator==(const RankClass&) const = default;
};

/// The wait of a rank whose peers its class has in `members`; null: there is none.
const OpReport* awaited_of(const RankReport& rank) noexcept;

struct RankClasses {
  /// Classes beyond so many, or whose examples would take more bytes, are only counted, and so are
  /// runs of a class beyond its part of `max_runs`. The whole takes half a MiB at most, so that a
  /// launcher with 32 agents gets 16 MiB, whatever ranks do.
  static constexpr std::size_t max_classes = 512;
  static constexpr std::size_t max_example_bytes = std::size_t{320} << 10;
  static constexpr std::size_t max_runs = 8192;

  std::map<std::string, RankClass> by_key;  ///< the key: what the ranks have in common
  std::uint64_t left_out = 0;               ///< ranks of further classes

  bool operator==(const RankClasses&) const = default;
};

RankClasses classes_of(const std::vector<RankReport>& ranks);
RankClasses merge(RankClasses one, const RankClasses& other);

std::vector<std::byte> encode(const RankClasses& classes);
/// Empty if the bytes are no such thing.
std::optional<RankClasses> decode_classes(std::span<const std::byte> bytes);

/// Each rank as a class of its own, as in a job of few ranks.
RankClasses each_alone(const std::vector<RankReport>& ranks);
/// Classes that are equal, such as ranks that were each alone, as one.
RankClasses alike(const std::vector<RankClass>& classes);

/// The classes by the ranks of their examples.
std::vector<RankClass> by_rank(const RankClasses& classes);

/// Adds the ranks of `earlier` that `classes` does not have, so far as their ranks are listed.
RankClasses completed(RankClasses classes, const RankClasses& earlier);

/// Ranks in all, those that were left out among them.
std::uint64_t ranks_in(const RankClasses& classes);

}  // namespace gex::launch
