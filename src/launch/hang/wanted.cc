#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "launch/hang/wait_graph.h"

namespace gex::launch {

namespace {

/// Finds the runs of all ranks of a graph that may have a rank in common with a run.
class KnownRanks {
 public:
  explicit KnownRanks(const WaitGraph& graph) {
    for (std::uint32_t i = 0; i < graph.waiters.size(); ++i)
      for (const RankRun& run : graph.waiters[i].ranks.runs) entries_.push_back({run, i, 0});
    std::ranges::sort(entries_, {}, [](const Entry& entry) { return entry.run.first; });
    std::uint32_t reach = 0;
    for (Entry& entry : entries_) entry.reach = reach = std::max(reach, entry.run.last());
  }

  /// Calls `visit(waiters, run)` for each, until it returns false.
  template <class Visit>
  void near(const RankRun& wanted, const Visit& visit) const {
    auto at = std::ranges::upper_bound(entries_, wanted.last(), {},
                                       [](const Entry& entry) { return entry.run.first; });
    while (at != entries_.begin() && (--at)->reach >= wanted.first)
      if (at->run.last() >= wanted.first && !visit(at->waiters, at->run)) return;
  }

 private:
  struct Entry {
    RankRun run;
    std::uint32_t waiters;
    std::uint32_t reach;  ///< the greatest rank of this one and those before
  };
  std::vector<Entry> entries_;
};

/// The different sets of peers that ranks wait for.
std::vector<RankRun> all_peers(const WaitGraph& graph) {
  std::vector<RankRun> all;
  for (const Waiters& waiters : graph.waiters)
    for (const std::vector<RankRun>& runs : waiters.for_peers)
      for (const RankRun& run : runs) all.push_back(peers_of(run));
  const auto key = [](const RankRun& run) { return std::tuple(run.first, run.count, run.stride); };
  std::ranges::sort(all, {}, key);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

Wanted wanted_in(const WaitGraph& graph) {
  std::vector<bool> all_of(graph.waiters.size());
  for (const std::vector<std::uint32_t>& missing : graph.missing)
    for (const std::uint32_t waiters : missing) all_of[waiters] = true;
  const auto is_looked_for = [&](std::uint32_t i) {
    return !graph.waiters[i].waits() || graph.waiters[i].stopped;
  };
  std::vector<std::vector<RankRun>> parts(graph.waiters.size());
  std::vector<RankRun> unknown;
  const KnownRanks known(graph);
  for (const RankRun& peers : all_peers(graph)) {
    std::vector<RankRun> left{peers};
    known.near(peers, [&](std::uint32_t waiters, const RankRun& run) {
      if (is_looked_for(waiters) && !all_of[waiters]) {
        if (const auto common = common_of(run, peers)) parts[waiters].push_back(*common);
      }
      left = without(std::move(left), {run});
      return !left.empty();
    });
    unknown.insert(unknown.end(), left.begin(), left.end());
  }
  Wanted wanted;
  for (std::uint32_t i = 0; i < graph.waiters.size(); ++i) {
    const bool whole = all_of[i] && is_looked_for(i);
    wanted.ranks.push_back(whole ? graph.waiters[i].ranks : united(std::move(parts[i])));
  }
  wanted.unknown = united(std::move(unknown));
  return wanted;
}

}  // namespace gex::launch
