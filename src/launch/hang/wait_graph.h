#pragma once
// Sets of ranks that wait in the same way, and whom they wait for: a search in this graph takes as
// many steps as there are such sets, however many ranks they have.
//
//   waiters of a barrier  --call-->  its members that have not called it
//   waiters of a put      --peers->  ranks, one for each

#include <cstdint>
#include <vector>

#include "launch/hang/rank_runs.h"

namespace gex::launch {

/// Ranks that wait in the same way, or not at all.
struct Waiters {
  RankRuns ranks;
  /// Waits of all of them for a rank: each the runs of `ranks`, in this order, with the peers.
  std::vector<std::vector<RankRun>> for_peers;
  std::vector<std::uint32_t> for_calls;  ///< numbers of calls that they wait in
  bool stopped = false;                  ///< by a signal: they are looked for although they wait

  bool waits() const noexcept { return !for_peers.empty() || !for_calls.empty(); }
};

struct WaitGraph {
  std::vector<Waiters> waiters;
  /// By call: those of `waiters` that have not made it. None of a call that waits for no rank.
  std::vector<std::vector<std::uint32_t>> missing;
};

/// Ranks that wait for one another in a circle, and ranks that wait for themselves.
struct Circles {
  std::vector<RankRuns> found;  ///< by their lowest rank
  /// Ranks that may be in further circles, which were too many to follow one by one.
  RankRuns not_followed;
};
Circles circles_of(const WaitGraph& graph);

/// Ranks that others wait for, and that do not wait themselves.
struct Wanted {
  std::vector<RankRuns> ranks;  ///< by the number of their waiters
  RankRuns unknown;             ///< ranks that the graph does not have
};
Wanted wanted_in(const WaitGraph& graph);

}  // namespace gex::launch
