#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "launch/hang/hang_report.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

using Ranks = std::vector<std::uint32_t>;

std::string age_text(const std::optional<double>& age_s) {
  return age_s ? text_of(" for %.1f s", *age_s) : "";
}

std::string stacks_of(const RankReport& rank) {
  std::string out;
  for (const ThreadReport& thread : rank.threads)
    if (!thread.backtrace.empty())
      out += text_of("stack of rank %u, thread %u:\n", rank.rank, thread.number) + thread.backtrace;
  return out;
}

/// Lines of one kind that are shown before the others are only counted.
constexpr std::size_t max_lines = 16;

}  // namespace

std::string list_of(const Ranks& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out += std::to_string(ranks[i]);
    if (last > i) out += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

std::string to_text(const HangReport& report) {
  std::string out;
  // Ranks that wait for the same in the same words share a line.
  std::map<std::string, std::pair<Ranks, double>> waits;
  std::vector<std::string> order;
  for (const RankWait& wait : report.waits) {
    auto [at, made] = waits.try_emplace(wait.why);
    if (made) order.push_back(wait.why);
    if (at->second.first.empty() || at->second.first.back() != wait.rank)
      at->second.first.push_back(wait.rank);
    at->second.second = std::max(at->second.second, wait.op.age_s.value_or(0));
  }
  std::size_t lines = 0;
  for (const std::string& why : order) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more waits\n", order.size() - max_lines);
      break;
    }
    const auto& [ranks, longest] = waits[why];
    out += "rank" + std::string(ranks.size() == 1 ? " " : "s ") + list_of(ranks) +
           age_text(longest) + ": " + why + "\n";
  }
  for (const HangReport::Mismatch& mismatch : report.mismatches)
    out +=
        text_of("mismatch in collective %u of a team: ", mismatch.sequence) + mismatch.what + "\n";
  for (const Ranks& circle : report.circles)
    out += "circle: ranks " + list_of(circle) + " wait for each other\n";
  lines = 0;
  for (const HangReport::Culprit& culprit : report.culprits) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more ranks that others wait for\n",
                     report.culprits.size() - max_lines);
      break;
    }
    out += text_of("rank %u, which others wait for, ", culprit.rank) + culprit.what + "\n";
  }
  if (report.waits.empty()) out += "no rank waits\n";
  // The stacks of all ranks are in the JSON.
  constexpr std::size_t max_ranks_with_stacks = 4;
  for (std::size_t i = 0; i < std::min(report.culprits.size(), max_ranks_with_stacks); ++i)
    for (const RankReport& rank : report.ranks)
      if (rank.rank == report.culprits[i].rank) out += stacks_of(rank);
  return out;
}

}  // namespace gex::launch
