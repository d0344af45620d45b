#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "launch/hang/components.h"
#include "launch/hang/rank_ranges.h"
#include "launch/hang/wait_graph.h"

namespace gex::launch {

namespace {

/// Vertices from this number on are calls: each waits for the ranks that have not made it.
constexpr std::uint32_t first_call = 1U << 31;

/// Ranks that are followed one by one, in all; and where there are more, from so many of each run,
/// and so far.
constexpr std::uint64_t max_followed = 4096;
constexpr std::uint32_t max_starts = 4;
constexpr std::size_t max_steps = 64;

/// A run whose ranks wait for others of it, at a greater distance, is followed one by one.
constexpr std::int64_t max_chains = 64;

/// How the ranks of a run are looked at.
enum class Way : std::uint8_t {
  together,  ///< they have all their peers in common, or are one
  chains,  ///< each waits for the one at a certain distance, which is of the run, but for the last
  one_by_one
};

/// The distance, in a run of the way `chains`, from a rank to the one that it waits for, by their
/// numbers in the run.
std::int64_t shift_of(const RankRun& peers) noexcept {
  return (std::int64_t{*peers.peer} - std::int64_t{peers.first}) / peers.stride;
}

/// Ranks that are in a circle together if one of them is.
struct Piece {
  std::uint32_t waiters = 0;
  std::uint32_t run = 0;
  std::uint32_t from = 0;  ///< its first rank's number in the run
  std::uint32_t step = 1;
  std::uint32_t count = 1;
  std::uint32_t exit = 0;  ///< number of a rank by whose peers the piece is left
};

/// Circles among sets of ranks whose sets wait for one another.
class CircleSearch {
 public:
  /// `among`: numbers of the sets.
  CircleSearch(const WaitGraph& graph, std::vector<std::uint32_t> among, Circles& circles)
      : graph_(graph), among_(std::move(among)), circles_(circles) {}

  void run() {
    for (const std::uint32_t waiters : among_) {
      const RankRuns& ranks = graph_.waiters[waiters].ranks;
      for (std::uint32_t run = 0; run < ranks.runs.size(); ++run)
        runs_.push_back({waiters, run, way_of(waiters, run)});
      unlisted_ += ranks.count - ranks.listed();
    }
    choose_followed();
    find_entries();
    for (const Run& run : runs_) cut(run);
    connect();
    collect();
  }

 private:
  struct Run {
    std::uint32_t waiters;
    std::uint32_t number;
    Way way;
  };
  const RankRun& ranks_of(const Run& run) const {
    return graph_.waiters[run.waiters].ranks.runs[run.number];
  }

  Way way_of(std::uint32_t waiters, std::uint32_t number) const {
    const auto& for_peers = graph_.waiters[waiters].for_peers;
    const auto common = [number](const auto& runs) { return runs[number].has_one_peer(); };
    if (std::ranges::all_of(for_peers, common)) return Way::together;
    const RankRun& peers = for_peers.front()[number];
    const std::int64_t distance = std::int64_t{*peers.peer} - std::int64_t{peers.first};
    const std::int64_t shift = std::abs(shift_of(peers));
    const bool chains = for_peers.size() == 1 && peers.peer_stride == std::int64_t{peers.stride} &&
                        distance % peers.stride == 0 && shift != 0 && shift < peers.count &&
                        shift <= max_chains;
    return chains ? Way::chains : Way::one_by_one;
  }

  /// Chooses ranks of the runs that are followed one by one: all, or some and whom these reach.
  void choose_followed() {
    std::uint64_t ranks = 0;
    for (const Run& run : runs_)
      if (run.way == Way::one_by_one) ranks += ranks_of(run).count;
    for (const Run& run : runs_) {
      if (run.way != Way::one_by_one) continue;
      const RankRun& all = ranks_of(run);
      const std::uint32_t starts = ranks <= max_followed ? all.count : max_starts;
      for (std::uint32_t i = 0; i < std::min(starts, all.count); ++i) {
        if (ranks <= max_followed)
          followed_.insert(all.rank(i));
        else if (steps_ < max_followed)
          follow(all.rank(i));
      }
    }
    for (const Run& run : runs_)
      if (run.way == Way::one_by_one) leave_out(ranks_of(run));
  }

  /// Notes the ranks of a run that are not followed.
  void leave_out(const RankRun& all) {
    std::uint32_t from = 0;
    const auto leave = [&](std::uint32_t to) {
      if (to > from) left_.push_back(part_of(all, from, 1, to - from));
      from = to + 1;
    };
    for (const std::uint32_t index : indices_of(followed_, all)) leave(index);
    leave(all.count);
  }

  void follow(std::uint32_t start) {
    std::deque<std::uint32_t> next{start};
    for (std::size_t step = 0; step < max_steps && !next.empty(); ++step) {
      ++steps_;
      const std::uint32_t rank = next.front();
      next.pop_front();
      const auto at = std::ranges::find_if(
          runs_, [&](const Run& run) { return ranks_of(run).index_of(rank).has_value(); });
      if (at == runs_.end()) continue;
      if (at->way == Way::one_by_one && !followed_.insert(rank).second) continue;
      each_peer(*at, *ranks_of(*at).index_of(rank),
                [&](std::uint32_t peer) { next.push_back(peer); });
    }
  }

  /// The peers of a rank of a run, by its number there.
  template <class Visit>
  void each_peer(const Run& run, std::uint32_t index, const Visit& visit) const {
    for (const auto& runs : graph_.waiters[run.waiters].for_peers)
      visit(runs[run.number].peer_of(index));
  }

  /// The ranks of a run by whose peers a search leaves it.
  std::vector<std::uint32_t> exits_of(const Run& run) const {
    const RankRun& ranks = ranks_of(run);
    std::vector<std::uint32_t> exits;
    if (run.way == Way::together) {
      exits.push_back(0);
    } else if (run.way == Way::one_by_one) {
      exits = indices_of(followed_, ranks);
    } else {
      const std::int64_t shift = shift_of(graph_.waiters[run.waiters].for_peers[0][run.number]);
      const auto chains = static_cast<std::uint32_t>(std::abs(shift));
      for (std::uint32_t i = 0; i < chains; ++i)
        exits.push_back(shift > 0 ? ranks.count - 1 - i : i);
    }
    return exits;
  }

  /// Ranks that others wait for each by itself: pieces begin with them.
  void find_entries() {
    for (const Run& run : runs_)
      for (const std::uint32_t exit : exits_of(run))
        each_peer(run, exit, [this](std::uint32_t peer) { entries_.insert(peer); });
  }

  /// The numbers in a run of those ranks that are of it.
  static std::vector<std::uint32_t> indices_of(const std::set<std::uint32_t>& ranks,
                                               const RankRun& run) {
    std::vector<std::uint32_t> indices;
    for (auto at = ranks.lower_bound(run.first); at != ranks.end() && *at <= run.last(); ++at)
      if (const auto index = run.index_of(*at)) indices.push_back(*index);
    return indices;
  }

  void cut(const Run& run) {
    const RankRun& ranks = ranks_of(run);
    if (run.way == Way::one_by_one) {
      for (const std::uint32_t index : indices_of(followed_, ranks))
        add({run.waiters, run.number, index, 1, 1, index}, index);
    } else if (run.way == Way::together) {
      std::uint32_t from = 0;
      for (const std::uint32_t index : indices_of(entries_, ranks)) {
        if (index > from) add({run.waiters, run.number, from, 1, index - from, from});
        add({run.waiters, run.number, index, 1, 1, index}, index);
        from = index + 1;
      }
      if (from < ranks.count) add({run.waiters, run.number, from, 1, ranks.count - from, from});
    } else {
      cut_chains(run);
    }
  }

  /// A chain is cut before each entry, in the direction in which its ranks wait.
  void cut_chains(const Run& run) {
    const RankRun& ranks = ranks_of(run);
    const std::int64_t shift = shift_of(graph_.waiters[run.waiters].for_peers[0][run.number]);
    const auto step = static_cast<std::uint32_t>(std::abs(shift));
    std::vector<std::vector<std::uint32_t>> entries(step);
    for (const std::uint32_t index : indices_of(entries_, ranks))
      entries[index % step].push_back(index);
    for (std::uint32_t chain = 0; chain < step; ++chain) {
      std::uint32_t from = chain;
      const std::uint32_t last = chain + (ranks.count - 1 - chain) / step * step;
      const auto piece = [&](std::uint32_t to) {
        const std::uint32_t count = (to - from) / step + 1;
        const std::uint32_t head = shift > 0 ? from : to;
        add({run.waiters, run.number, from, step, count, shift > 0 ? to : from}, head);
        from = to + step;
      };
      for (const std::uint32_t entry : entries[chain]) {
        if (shift > 0 && entry > from) piece(entry - step);
        if (shift < 0) piece(entry);
      }
      if (from <= last) piece(last);
    }
  }

  void add(const Piece& piece) {
    pieces_of_[piece.waiters].push_back(static_cast<std::uint32_t>(pieces_.size()));
    pieces_.push_back(piece);
  }
  /// A piece that is entered at a rank, by its number in the run.
  void add(const Piece& piece, std::uint32_t head) {
    const RankRun& run = graph_.waiters[piece.waiters].ranks.runs[piece.run];
    heads_.emplace(run.rank(head), static_cast<std::uint32_t>(pieces_.size()));
    add(piece);
  }

  void connect() {
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      const Waiters& waiters = graph_.waiters[piece.waiters];
      std::set<std::uint32_t>& to = edges_[i];
      for (const auto& runs : waiters.for_peers) {
        const auto head = heads_.find(runs[piece.run].peer_of(piece.exit));
        if (head != heads_.end()) to.insert(head->second);
      }
      for (const std::uint32_t call : waiters.for_calls) {
        to.insert(first_call + call);
        calls_.insert(call);
      }
    }
    for (const std::uint32_t call : calls_)
      for (const std::uint32_t waiters : graph_.missing[call])
        if (const auto found = pieces_of_.find(waiters); found != pieces_of_.end())
          edges_[first_call + call].insert(found->second.begin(), found->second.end());
  }

  void collect() {
    for (const std::vector<std::uint32_t>& component : components_of(edges_)) {
      std::vector<RankRun> ranks;
      for (const std::uint32_t vertex : component) {
        if (vertex >= first_call) continue;
        const Piece& piece = pieces_[vertex];
        const RankRun& run = graph_.waiters[piece.waiters].ranks.runs[piece.run];
        ranks.push_back(part_of(run, piece.from, piece.step, piece.count));
      }
      if (!ranks.empty()) circles_.found.push_back(united(std::move(ranks)));
    }
    RankRuns left = united(std::move(left_));
    left.count += unlisted_;
    circles_.not_followed.count += left.count;
    circles_.not_followed.runs.insert(circles_.not_followed.runs.end(), left.runs.begin(),
                                      left.runs.end());
  }

  const WaitGraph& graph_;
  const std::vector<std::uint32_t> among_;
  Circles& circles_;
  std::vector<Run> runs_;
  std::uint64_t unlisted_ = 0;
  std::set<std::uint32_t> followed_;
  std::uint64_t steps_ = 0;    ///< from rank to rank
  std::vector<RankRun> left_;  ///< that are not followed
  std::set<std::uint32_t> entries_;
  std::vector<Piece> pieces_;
  std::map<std::uint32_t, std::uint32_t> heads_;  ///< pieces by the rank they are entered at
  std::map<std::uint32_t, std::vector<std::uint32_t>> pieces_of_;  ///< by waiters
  std::set<std::uint32_t> calls_;
  Edges edges_;
};

/// The lowest and the greatest rank of a set, or of peers.
struct Range {
  std::uint32_t low = UINT32_MAX;
  std::uint32_t high = 0;

  void add(const RankRun& run) {
    low = std::min(low, run.first);
    high = std::max(high, run.last());
  }
};

/// Edges between sets of ranks: there is one where a rank of one may wait for a rank of the other.
Edges edges_between_sets(const WaitGraph& graph) {
  RankRanges<std::uint32_t> ranges;
  Edges edges;
  for (std::uint32_t i = 0; i < graph.waiters.size(); ++i) {
    const Waiters& waiters = graph.waiters[i];
    if (!waiters.waits()) continue;
    for (const std::uint32_t call : waiters.for_calls) edges[i].insert(first_call + call);
    Range range;
    for (const RankRun& run : waiters.ranks.runs) range.add(run);
    ranges.add(range.low, range.high, i);
  }
  for (std::uint32_t call = 0; call < graph.missing.size(); ++call)
    for (const std::uint32_t waiters : graph.missing[call])
      if (graph.waiters[waiters].waits()) edges[first_call + call].insert(waiters);
  ranges.sort();
  for (std::uint32_t i = 0; i < graph.waiters.size(); ++i) {
    for (const std::vector<RankRun>& runs : graph.waiters[i].for_peers) {
      Range peers;
      for (const RankRun& run : runs) peers.add(peers_of(run));
      ranges.near(peers.low, peers.high, [&](std::uint32_t waiters) {
        edges[i].insert(waiters);
        return true;
      });
    }
  }
  return edges;
}

}  // namespace

Circles circles_of(const WaitGraph& graph) {
  Circles circles;
  for (std::vector<std::uint32_t>& component : components_of(edges_between_sets(graph))) {
    std::erase_if(component, [](std::uint32_t vertex) { return vertex >= first_call; });
    CircleSearch(graph, std::move(component), circles).run();
  }
  std::ranges::sort(circles.found, {}, &RankRuns::lowest);
  std::ranges::sort(circles.not_followed.runs, {}, &RankRun::first);
  return circles;
}

}  // namespace gex::launch
