#pragma once
// The hang report: which ranks wait for which others and why, circles of ranks that wait for each
// other, and the ranks that others wait for but that do not wait.
//
//   const HangReport report = analyse(collected.take());
//   write_stderr(to_text(report));
//
// It is made of classes of ranks, so that its size goes with how much they differ.
//
// Pure functions of what was collected; no process, clock or memory of a rank is looked at.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/hang/rank_classes.h"
#include "launch/hang/rank_report.h"

namespace gex::launch {

/// Ranks whose threads of one number wait in the same way.
struct RankWait {
  std::uint32_t rank = 0;  ///< the lowest
  RankRuns ranks;
  std::uint32_t thread = 0;
  OpReport op;  ///< of `rank`; kind `none`: the client's own loop of polls
  double max_age_s = 0;
  /// Whom `rank` waits for; none if that is not known. Shared by all that wait for one call.
  std::shared_ptr<const RankRuns> waits_for;
  std::string why;  ///< what one does, from the verb on: "waits in ..."

  bool operator==(const RankWait&) const = default;
};

struct HangReport {
  /// Ranks that do the same, by their lowest rank. Of few ranks each is alone.
  std::vector<RankClass> classes;
  std::uint64_t left_out = 0;  ///< ranks of further classes
  std::vector<RankWait> waits;
  std::vector<RankRuns> circles;
  RankRuns not_followed;  ///< ranks that may be in further circles
  /// Describes what ranks do that do not wait.
  struct Deed {
    RankRuns ranks;
    std::string what;  ///< from the verb on, of one
    double min_cpu_s = 0;
    double max_cpu_s = 0;
    std::string last_call;                    ///< as RankReport::last_call
    std::optional<std::size_t> class_number;  ///< in `classes`; empty: nothing is known of them
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
    RankRuns ranks;
    std::string what;
  };
  std::vector<Mismatch> mismatches;
};

/// In memory and steps that grow with the number of classes, not with that of ranks.
HangReport analyse(const RankClasses& classes);

/// Lines for a person, each with a newline.
std::string to_text(const HangReport& report);

/// One JSON object: {"ranks": [...], "classes": [...], "waits": [...], "circles": [...],
/// "culprits": [...], "others": [...], "mismatches": [...]}. docs/hangs.md describes its fields.
std::string to_json(const HangReport& report);
/// The JSON begins with this.
inline constexpr std::string_view report_json_start = "{\"ranks\": [";

/// Returns true if a rank waits, or has an operation in flight that has been found incomplete that
/// long ago.
bool is_waiting(const RankReport& rank, double seconds) noexcept;

}  // namespace gex::launch
