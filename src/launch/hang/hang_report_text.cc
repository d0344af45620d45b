#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "launch/hang/hang_report.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

using Ranks = std::vector<std::uint32_t>;

/// Lines of one kind that are shown before the others are only counted.
constexpr std::size_t max_lines = 16;

/// Classes of ranks whose stacks are shown; those of all are in the JSON.
constexpr std::size_t max_stacks = 4;

/// Runs of ranks in a list that are shown.
constexpr std::size_t max_listed_runs = 64;

std::string age_text(const std::optional<double>& age_s) {
  return age_s ? text_of(" for %.1f s", *age_s) : "";
}

/// "waits in ..." of one rank is "wait in ..." of several.
std::string of_several(const std::string& deed) {
  constexpr std::pair<std::string_view, std::string_view> verbs[] = {
      {"has ", "have "},     {"is ", "are "},
      {"polls ", "poll "},   {"runs, and is ", "run, and are "},
      {"sleeps ", "sleep "}, {"waits ", "wait "}};
  constexpr std::pair<std::string_view, std::string_view> later[] = {
      {": it has ", ": they have "},
      {": it computes, or is ", ": they compute, or are "},
      {" of its process ", " of their processes "}};
  std::string text = deed;
  for (const auto& [one, several] : verbs)
    if (text.starts_with(one)) {
      text.replace(0, one.size(), several);
      break;
    }
  for (const auto& [one, several] : later)
    if (const std::size_t at = text.find(one); at != std::string::npos)
      text.replace(at, one.size(), several);
  return text;
}

std::string deed_of(const Ranks& ranks, const std::string& deed) {
  return ranks.size() == 1 ? deed : of_several(deed);
}

/// " (1.5 s of processor time; after gex_AM_RequestShort)".
std::string details_of(double min_s, double max_s, const std::string& last_call) {
  const std::string shortest = text_of("%.1f", min_s);
  const std::string longest = text_of("%.1f", max_s);
  return " (" + (shortest == longest ? longest : shortest + " to " + longest) +
         " s of processor time" + (last_call.empty() ? "" : ";" + last_call) + ")";
}

/// Ranks that wait for the same in the same words share a line.
std::string text_of_waits(const std::vector<RankWait>& list) {
  std::string out;
  std::map<std::string, std::pair<Ranks, double>> waits;
  std::vector<std::string> order;
  for (const RankWait& wait : list) {
    auto [at, made] = waits.try_emplace(wait.why);
    if (made) order.push_back(wait.why);
    auto& [ranks, longest] = at->second;
    if (ranks.empty() || ranks.back() != wait.rank) ranks.push_back(wait.rank);
    longest = std::max(longest, wait.op.age_s.value_or(0));
  }
  std::size_t lines = 0;
  for (const std::string& why : order) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more waits\n", order.size() - max_lines);
      break;
    }
    const auto& [ranks, longest] = waits[why];
    out += ranks_of(ranks) + age_text(longest) + ": " + deed_of(ranks, why) + "\n";
  }
  return out;
}

std::string text_of_culprits(const std::vector<HangReport::Deed>& culprits) {
  std::string out;
  std::size_t lines = 0;
  for (const HangReport::Deed& culprit : culprits) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more ranks that others wait for\n", culprits.size() - max_lines);
      break;
    }
    out += text_of("rank %u, which others wait for, ", culprit.rank) + culprit.what +
           details_of(culprit.cpu_s, culprit.cpu_s, culprit.last_call) + "\n";
  }
  return out;
}

/// Ranks that do the same share a line.
std::string text_of_others(const std::vector<HangReport::Deed>& others) {
  struct Group {
    std::string what;
    std::string last_call;
    Ranks ranks;
    double min_s;
    double max_s;
  };
  std::vector<Group> groups;
  for (const HangReport::Deed& deed : others) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.what == deed.what && group.last_call == deed.last_call;
    });
    if (at == groups.end())
      at = groups.insert(at, {deed.what, deed.last_call, {}, deed.cpu_s, deed.cpu_s});
    at->ranks.push_back(deed.rank);
    at->min_s = std::min(at->min_s, deed.cpu_s);
    at->max_s = std::max(at->max_s, deed.cpu_s);
  }
  std::string out;
  std::size_t lines = 0;
  for (const Group& group : groups) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more groups of ranks that do other things\n",
                     groups.size() - max_lines);
      break;
    }
    out += ranks_of(group.ranks) + " " + deed_of(group.ranks, group.what) +
           details_of(group.min_s, group.max_s, group.last_call) + "\n";
  }
  return out;
}

std::string text_of_teams(const std::vector<HangReport::WaitedIn>& teams) {
  std::string out;
  if (!teams.empty()) out = text_of("these are %zu different teams:\n", teams.size());
  for (std::size_t i = 0; i < std::min(teams.size(), max_lines); ++i)
    out += "team " + letter_of(i) +
           text_of(", of %u rank%s: ", teams[i].team.size, teams[i].team.size == 1 ? "" : "s") +
           teams[i].origin + "\n";
  return out;
}

std::string text_of_regions(const std::vector<RankReport>& ranks) {
  Ranks open;
  for (const RankReport& rank : ranks)
    if (std::any_of(rank.threads.begin(), rank.threads.end(),
                    [](const ThreadReport& thread) { return thread.region_open; }))
      open.push_back(rank.rank);
  if (open.empty()) return "";
  return ranks_of(open) + (open.size() == 1 ? " has" : " have") +
         " an access region open (gex_NBI_BeginAccessRegion without gex_NBI_EndAccessRegion)\n";
}

/// Prints the stacks of ranks that others wait for; where there are none, of those that do not
/// wait: one for all that have the same.
std::string text_of_stacks(const HangReport& report) {
  std::vector<RankReport> shown;
  for (const HangReport::Deed& deed : report.culprits.empty() ? report.others : report.culprits) {
    const auto at = std::ranges::lower_bound(report.ranks, deed.rank, {}, &RankReport::rank);
    if (at == report.ranks.end() || at->rank != deed.rank) continue;
    const auto has_stack = [](const ThreadReport& one) { return !one.backtrace.empty(); };
    if (std::ranges::any_of(at->threads, has_stack)) shown.push_back(*at);
  }
  const RankClasses classes = classes_of(shown);
  std::vector<const RankClass*> by_rank;
  for (const auto& [key, one] : classes.by_key) by_rank.push_back(&one);
  std::ranges::sort(by_rank, {}, [](const RankClass* one) { return one->example.rank; });
  if (by_rank.size() > max_stacks) by_rank.resize(max_stacks);
  std::string out;
  for (const RankClass* const one : by_rank)
    for (const ThreadReport& thread : one->example.threads)
      if (!thread.backtrace.empty())
        out += (one->ranks == 1 ? "stack of rank " : "stack of ranks ") +
               list_of(*one, max_listed_runs) + text_of(", thread %u:\n", thread.number) +
               thread.backtrace;
  return out;
}

}  // namespace

std::string list_of(const Ranks& ranks) {
  std::string out;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (++runs > max_listed_runs) return out + text_of(" and %zu more", ranks.size() - i);
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out += std::to_string(ranks[i]);
    if (last > i) out += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

std::string ranks_of(const Ranks& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + list_of(ranks);
}

std::string to_text(const HangReport& report) {
  std::string out = text_of_waits(report.waits) + text_of_teams(report.teams);
  for (const HangReport::Mismatch& mismatch : report.mismatches)
    out +=
        text_of("mismatch in collective %u of a team: ", mismatch.sequence) + mismatch.what + "\n";
  for (const Ranks& circle : report.circles)
    out += circle.size() == 1 ? ranks_of(circle) + " waits for itself\n"
                              : "circle: " + ranks_of(circle) + " wait for each other\n";
  out += text_of_culprits(report.culprits);
  if (report.waits.empty()) out += "no rank waits\n";
  out += text_of_others(report.others) + text_of_regions(report.ranks);
  return out + text_of_stacks(report);
}

}  // namespace gex::launch
