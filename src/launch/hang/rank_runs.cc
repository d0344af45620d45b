#include "launch/hang/rank_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

bool by_first(const RankRun& a, const RankRun& b) noexcept {
  return a.first < b.first;
}

/// The inverse of a number modulo another one, with which it has no factor in common.
std::uint64_t inverse_of(std::uint64_t number, std::uint64_t modulus) noexcept {
  std::int64_t inverse = 0;
  std::int64_t next_inverse = 1;
  auto rest = static_cast<std::int64_t>(modulus);
  auto next_rest = static_cast<std::int64_t>(number % modulus);
  while (next_rest != 0) {
    const std::int64_t quotient = rest / next_rest;
    inverse = std::exchange(next_inverse, inverse - quotient * next_inverse);
    rest = std::exchange(next_rest, rest - quotient * next_rest);
  }
  return static_cast<std::uint64_t>(inverse < 0 ? inverse + static_cast<std::int64_t>(modulus)
                                                : inverse);
}

/// Ranks number `from`, from + step, ... of a run.
struct Indices {
  std::uint32_t from = 0;
  std::uint32_t step = 1;
  std::uint32_t count = 0;
};

/// The ranks of a run that are in another one too.
Indices common_indices(const RankRun& run, const RankRun& other) noexcept {
  if (run.last() < other.first || other.last() < run.first) return {};
  const std::uint64_t divisor = std::gcd(run.stride, other.stride);
  const std::uint64_t step = other.stride / divisor;
  const std::int64_t distance = std::int64_t{other.first} - std::int64_t{run.first};
  if (distance % static_cast<std::int64_t>(divisor) != 0) return {};
  // from * run.stride = distance, modulo other.stride
  std::int64_t reduced =
      distance / static_cast<std::int64_t>(divisor) % static_cast<std::int64_t>(step);
  if (reduced < 0) reduced += static_cast<std::int64_t>(step);
  std::uint64_t from =
      static_cast<std::uint64_t>(reduced) * inverse_of(run.stride / divisor, step) % step;
  if (distance > 0) {
    const std::uint64_t least =
        (static_cast<std::uint64_t>(distance) + run.stride - 1) / run.stride;
    if (from < least) from += (least - from + step - 1) / step * step;
  }
  const std::uint64_t max_index = (std::min(run.last(), other.last()) - run.first) / run.stride;
  if (from > max_index) return {};
  return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(step),
          static_cast<std::uint32_t>((max_index - from) / step + 1)};
}

/// Appends a run behind the last one, or to it; true if to it.
bool append_to(RankRun& last, const RankRun& run) {
  if (last.peer.has_value() != run.peer.has_value() || run.first <= last.last()) return false;
  const std::uint32_t stride = run.first - last.last();
  const std::int64_t peers_apart =
      last.peer ? std::int64_t{*run.peer} - std::int64_t{last.peer_of(last.count - 1)} : 0;
  const auto peer_stride = static_cast<std::int32_t>(peers_apart);
  if (peer_stride != peers_apart) return false;
  const auto fits = [&](const RankRun& one) {
    return one.count == 1 || (one.stride == stride && one.peer_stride == peer_stride);
  };
  if (!fits(last) || !fits(run)) return false;
  last.stride = stride;
  last.peer_stride = peer_stride;
  last.count += run.count;
  return true;
}

/// "4", "0-6", "0-6 by 2", "7-0 by -1".
std::string text_of_run(std::uint32_t first, std::uint32_t last, std::uint32_t count,
                        std::int64_t stride) {
  std::string out = std::to_string(first);
  if (count == 2 && stride != 1)
    out += ", " + std::to_string(last);
  else if (count > 1)
    out += "-" + std::to_string(last);
  if (count > 2 && stride != 1) out += text_of(" by %lld", static_cast<long long>(stride));
  return out;
}

std::string and_more(std::uint64_t ranks) {
  return text_of(" and %llu more", static_cast<unsigned long long>(ranks));
}

}  // namespace

std::optional<std::uint32_t> RankRun::index_of(std::uint32_t wanted) const noexcept {
  if (wanted < first || wanted > last() || (wanted - first) % stride != 0) return std::nullopt;
  return (wanted - first) / stride;
}

RankRun run_of(std::uint32_t rank) {
  RankRun one;
  one.first = rank;
  return one;
}

RankRun part_of(const RankRun& run, std::uint32_t from, std::uint32_t step, std::uint32_t count) {
  RankRun part;
  part.first = run.rank(from);
  part.count = count;
  if (run.peer) part.peer = run.peer_of(from);
  if (count == 1) return part;
  part.stride = run.stride * step;
  part.peer_stride = static_cast<std::int32_t>(static_cast<std::uint32_t>(run.peer_stride) * step);
  return part;
}

std::optional<RankRun> common_of(const RankRun& run, const RankRun& other) {
  const Indices common = common_indices(run, other);
  if (common.count == 0) return std::nullopt;
  return part_of(run, common.from, common.step, common.count);
}

std::vector<RankRun> rest_of(const RankRun& run, const RankRun& other) {
  const auto [from, step, count] = common_indices(run, other);
  if (count == 0) return {run};
  std::vector<RankRun> rest;
  if (from > 0) rest.push_back(part_of(run, 0, 1, from));
  const std::uint32_t last = from + (count - 1) * step;
  // What is between those in common: by the distance to them, or by the gaps, whichever are fewer.
  if (step - 1 < count) {
    for (std::uint32_t i = 1; i < step && count > 1; ++i)
      rest.push_back(part_of(run, from + i, step, count - 1));
  } else {
    for (std::uint32_t i = 0; i + 1 < count; ++i)
      rest.push_back(part_of(run, from + i * step + 1, 1, step - 1));
  }
  if (last + 1 < run.count) rest.push_back(part_of(run, last + 1, 1, run.count - last - 1));
  return rest;
}

RankRun peers_of(const RankRun& run) {
  RankRun peers;
  peers.first = *run.peer;
  if (run.has_one_peer()) return peers;
  peers.count = run.count;
  peers.first = std::min(*run.peer, run.peer_of(run.count - 1));
  peers.stride = static_cast<std::uint32_t>(std::abs(std::int64_t{run.peer_stride}));
  return peers;
}

std::uint64_t RankRuns::listed() const noexcept {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RankRun& run) { return sum + run.count; });
}

RankRuns joined(std::vector<RankRun> runs) {
  std::ranges::sort(runs, by_first);
  RankRuns out;
  for (const RankRun& run : runs) {
    out.count += run.count;
    if (out.runs.empty() || !append_to(out.runs.back(), run)) out.runs.push_back(run);
  }
  if (out.runs.size() > RankRuns::max_runs) out.runs.resize(RankRuns::max_runs);
  return out;
}

RankRuns united(std::vector<RankRun> runs) {
  for (RankRun& run : runs) {
    run.peer.reset();
    run.peer_stride = 0;
  }
  std::ranges::sort(runs, by_first);
  std::vector<RankRun> apart;
  std::vector<std::uint32_t> reached;  ///< the greatest rank up to each of these
  for (const RankRun& run : runs) {
    std::vector<RankRun> pieces{run};
    for (std::size_t i = apart.size(); i-- > 0 && reached[i] >= run.first && !pieces.empty();)
      pieces = without(std::move(pieces), {apart[i]});
    for (const RankRun& piece : pieces) {
      reached.push_back(std::max(apart.empty() ? 0 : reached.back(), piece.last()));
      apart.push_back(piece);
    }
  }
  return joined(std::move(apart));
}

void RankUnion::add(const RankRuns& ranks) {
  runs_.insert(runs_.end(), ranks.runs.begin(), ranks.runs.end());
  unlisted_ += ranks.count - ranks.listed();
}

RankRuns RankUnion::take() {
  RankRuns made = united(std::exchange(runs_, {}));
  made.count += std::exchange(unlisted_, 0);
  return made;
}

RankRuns only(std::uint32_t rank) {
  return {{run_of(rank)}, 1};
}

std::vector<RankRun> without(std::vector<RankRun> ranks, const std::vector<RankRun>& taken) {
  for (const RankRun& run : taken) {
    std::vector<RankRun> left;
    for (const RankRun& one : ranks) {
      const std::vector<RankRun> rest = rest_of(one, run);
      left.insert(left.end(), rest.begin(), rest.end());
    }
    ranks = std::move(left);
  }
  return ranks;
}

std::vector<std::uint32_t> first_of(const RankRuns& ranks, std::size_t max_ranks) {
  std::vector<std::uint32_t> first;
  for (const RankRun& run : ranks.runs)
    for (std::uint32_t i = 0; i < std::min<std::size_t>(run.count, max_ranks); ++i)
      first.push_back(run.rank(i));
  std::ranges::sort(first);
  if (first.size() > max_ranks) first.resize(max_ranks);
  return first;
}

std::string list_of(const RankRuns& ranks, std::size_t max_runs) {
  std::string out;
  std::uint64_t listed = 0;
  for (std::size_t i = 0; i < std::min(max_runs, ranks.runs.size()); ++i) {
    const RankRun& run = ranks.runs[i];
    if (i != 0) out += ", ";
    out += text_of_run(run.first, run.last(), run.count, run.stride);
    listed += run.count;
  }
  if (listed != ranks.count) out += and_more(ranks.count - listed);
  return out;
}

std::string list_of(const std::vector<std::uint32_t>& ranks) {
  std::string out;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (++runs > max_listed_runs) return out + and_more(ranks.size() - i);
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out += std::to_string(ranks[i]);
    if (last > i) out += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

std::string ranks_of(const RankRuns& ranks) {
  const bool few = ranks.count <= max_ranks_in_full && ranks.listed() == ranks.count;
  return (ranks.count == 1 ? "rank " : "ranks ") +
         (few ? list_of(first_of(ranks, max_ranks_in_full)) : list_of(ranks, max_listed_runs));
}

std::string peers_in_order(const std::vector<RankRun>& runs) {
  constexpr std::size_t max_shown = 16;
  const bool one = std::ranges::all_of(runs, [&](const RankRun& run) {
    return run.peer == runs.front().peer && run.has_one_peer();
  });
  if (one) return text_of("rank %u", *runs.front().peer);
  std::string out = "ranks ";
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RankRun& run = runs[i];
    if (i >= max_shown) {
      left_out += run.count;
      continue;
    }
    if (i != 0) out += ", ";
    if (run.peer_stride == 0 && run.count > 1)
      out += text_of("%u (for %u)", *run.peer, run.count);
    else
      out += text_of_run(*run.peer, run.peer_of(run.count - 1), run.count, run.peer_stride);
  }
  if (left_out != 0) out += and_more(left_out);
  return out + ", in this order";
}

}  // namespace gex::launch
