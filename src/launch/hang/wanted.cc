#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "launch/hang/rank_ranges.h"
#include "launch/hang/wait_graph.h"

namespace gex::launch {

namespace {

/// A run of ranks of one of a graph's waiters.
struct KnownRun {
  std::uint32_t waiters;
  RankRun run;
};
RankRanges<KnownRun> known_in(const WaitGraph& graph) {
  RankRanges<KnownRun> known;
  for (std::uint32_t i = 0; i < graph.waiters.size(); ++i)
    for (const RankRun& run : graph.waiters[i].ranks.runs)
      known.add(run.first, run.last(), {i, run});
  known.sort();
  return known;
}

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
  const RankRanges<KnownRun> known = known_in(graph);
  for (const RankRun& peers : all_peers(graph)) {
    std::vector<RankRun> left{peers};
    known.near(peers.first, peers.last(), [&](const KnownRun& one) {
      if (is_looked_for(one.waiters) && !all_of[one.waiters]) {
        if (const auto common = common_of(one.run, peers)) parts[one.waiters].push_back(*common);
      }
      left = without(std::move(left), {one.run});
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
