#pragma once
// The hang report: which ranks wait for which others and why, circles of ranks that wait for each
// other, and the ranks that others wait for but that do not wait.
//
//   const HangReport report = analyse(collected);
//   write_stderr(to_text(report));
//
// Pure functions of what was collected; no process, clock or memory of a rank is looked at.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/hang/rank_classes.h"
#include "launch/hang/rank_report.h"

namespace gex::launch {

/// A rank that waits.
struct RankWait {
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;
  OpReport op;  ///< kind `none`: the client's own loop of polls
  /// Ranks, none if they are not known; shared by the members that wait for one call.
  std::shared_ptr<const std::vector<std::uint32_t>> waits_for;
  std::string why;  ///< what it does, from the verb on: "waits in ..."

  bool operator==(const RankWait&) const = default;
};

struct HangReport {
  std::vector<RankReport> ranks;  ///< by rank
  RankClasses classes;            ///< of these
  std::vector<RankWait> waits;
  std::vector<std::vector<std::uint32_t>> circles;
  /// Describes what a rank does that does not wait.
  struct Deed {
    std::uint32_t rank = 0;
    std::string what;
    double cpu_s = 0;
    std::string last_call;  ///< as RankReport::last_call
  };
  std::vector<Deed> culprits;  ///< ranks that others wait for but that do not wait
  std::vector<Deed> others;    ///< ranks that are neither waiting nor waited for, nor have ended
  /// Different teams that members wait in, if there are several, which the text calls A, B, ...
  struct WaitedIn {
    TeamReport team;
    std::string origin;
  };
  std::vector<WaitedIn> teams;
  /// Members that wait in the same collective of a team, but in different calls.
  struct Mismatch {
    std::uint64_t team = 0;
    std::uint32_t sequence = 0;
    std::vector<std::uint32_t> ranks;
    std::string what;
  };
  std::vector<Mismatch> mismatches;
};

HangReport analyse(std::vector<RankReport> ranks);

/// Lines for a person, each with a newline. Of many ranks that wait for the same the first stand
/// for all.
std::string to_text(const HangReport& report);

/// One JSON object: {"ranks": [...], "classes": [...], "waits": [...], "circles": [...],
/// "culprits": [...], "others": [...], "mismatches": [...]}. docs/hangs.md describes its fields. Of
/// more ranks than `max_ranks_in_full` it lists one for each class.
std::string to_json(const HangReport& report);
/// The JSON begins with this.
inline constexpr std::string_view report_json_start = "{\"ranks\": [";

/// Returns true if a rank waits, or has an operation in flight that has been found incomplete that
/// long ago.
bool is_waiting(const RankReport& rank, double seconds) noexcept;

/// "0", "0-3", "0-3, 7"; a list that is too long for a line ends with the number of ranks left out.
std::string list_of(const std::vector<std::uint32_t>& ranks);
/// "rank 0", "ranks 0-3, 7".
std::string ranks_of(const std::vector<std::uint32_t>& ranks);

}  // namespace gex::launch
