#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "launch/hang/hang_report.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

/// Lines of one kind that are shown before the others are only counted.
constexpr std::size_t max_lines = 16;

/// Classes of ranks whose stacks are shown; those of all are in the JSON.
constexpr std::size_t max_stacks = 4;

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

std::string deed_of(const RankRuns& ranks, const std::string& deed) {
  return ranks.count == 1 ? deed : of_several(deed);
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
  std::map<std::string, std::pair<RankUnion, double>> waits;
  std::vector<std::string> order;
  for (const RankWait& wait : list) {
    auto [at, made] = waits.try_emplace(wait.why);
    if (made) order.push_back(wait.why);
    auto& [ranks, longest] = at->second;
    ranks.add(wait.ranks);
    longest = std::max(longest, wait.max_age_s);
  }
  std::size_t lines = 0;
  for (const std::string& why : order) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more waits\n", order.size() - max_lines);
      break;
    }
    auto& [all, longest] = waits[why];
    const RankRuns ranks = all.take();
    out += ranks_of(ranks) + text_of(" for %.1f s: ", longest) + deed_of(ranks, why) + "\n";
  }
  return out;
}

std::string text_of_culprits(const std::vector<HangReport::Deed>& culprits) {
  std::string out;
  std::size_t lines = 0;
  std::uint64_t more = 0;
  for (const HangReport::Deed& culprit : culprits) {
    if (++lines > max_lines) {
      more += culprit.ranks.count;
      continue;
    }
    out += ranks_of(culprit.ranks) + ", which others wait for, " +
           deed_of(culprit.ranks, culprit.what) +
           details_of(culprit.min_cpu_s, culprit.max_cpu_s, culprit.last_call) + "\n";
  }
  if (more != 0)
    out += text_of("... and %llu more ranks that others wait for\n",
                   static_cast<unsigned long long>(more));
  return out;
}

/// Ranks that do the same share a line.
std::string text_of_others(const std::vector<HangReport::Deed>& others) {
  struct Group {
    const HangReport::Deed* first;
    RankUnion ranks;
    double min_s;
    double max_s;
  };
  std::vector<Group> groups;
  for (const HangReport::Deed& deed : others) {
    auto at = std::ranges::find_if(groups, [&](const Group& group) {
      return group.first->what == deed.what && group.first->last_call == deed.last_call;
    });
    if (at == groups.end()) at = groups.insert(at, {&deed, {}, deed.min_cpu_s, deed.max_cpu_s});
    at->ranks.add(deed.ranks);
    at->min_s = std::min(at->min_s, deed.min_cpu_s);
    at->max_s = std::max(at->max_s, deed.max_cpu_s);
  }
  std::string out;
  std::size_t lines = 0;
  for (Group& group : groups) {
    if (++lines > max_lines) {
      out += text_of("... and %zu more groups of ranks that do other things\n",
                     groups.size() - max_lines);
      break;
    }
    const RankRuns ranks = group.ranks.take();
    out += ranks_of(ranks) + " " + deed_of(ranks, group.first->what) +
           details_of(group.min_s, group.max_s, group.first->last_call) + "\n";
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

std::string text_of_regions(const std::vector<RankClass>& classes) {
  RankUnion open;
  for (const RankClass& one : classes)
    if (std::ranges::any_of(one.example.threads, &ThreadReport::region_open)) open.add(one.members);
  const RankRuns ranks = open.take();
  if (ranks.empty()) return "";
  return ranks_of(ranks) + (ranks.count == 1 ? " has" : " have") +
         " an access region open (gex_NBI_BeginAccessRegion without gex_NBI_EndAccessRegion)\n";
}

std::string text_of_circles(const HangReport& report) {
  std::string out;
  for (const RankRuns& circle : report.circles)
    out += circle.count == 1 ? ranks_of(circle) + " waits for itself\n"
                             : "circle: " + ranks_of(circle) + " wait for each other\n";
  if (!report.not_followed.empty())
    out += ranks_of(report.not_followed) +
           " may wait for each other in further circles; they are too many to follow\n";
  return out;
}

/// Prints the stacks of ranks that others wait for; where there are none, of those that do not
/// wait: one for all that have the same.
std::string text_of_stacks(const HangReport& report) {
  std::vector<RankClass> shown;
  for (const HangReport::Deed& deed : report.culprits.empty() ? report.others : report.culprits) {
    if (!deed.class_number) continue;
    const RankClass& one = report.classes[*deed.class_number];
    const auto has_stack = [](const ThreadReport& thread) { return !thread.backtrace.empty(); };
    if (!std::ranges::any_of(one.example.threads, has_stack)) continue;
    shown.push_back(one);
    shown.back().members = deed.ranks;
  }
  const RankClasses classes = alike(shown);
  std::vector<const RankClass*> by_rank;
  for (const auto& [key, one] : classes.by_key) by_rank.push_back(&one);
  std::ranges::sort(by_rank, {}, [](const RankClass* one) { return one->members.lowest(); });
  if (by_rank.size() > max_stacks) by_rank.resize(max_stacks);
  std::string out;
  for (const RankClass* const one : by_rank)
    for (const ThreadReport& thread : one->example.threads)
      if (!thread.backtrace.empty())
        out += (one->members.count == 1 ? "stack of rank " : "stack of ranks ") +
               list_of(one->members, max_listed_runs) + text_of(", thread %u:\n", thread.number) +
               thread.backtrace;
  return out;
}

}  // namespace

std::string to_text(const HangReport& report) {
  std::string out = text_of_waits(report.waits) + text_of_teams(report.teams);
  for (const HangReport::Mismatch& mismatch : report.mismatches)
    out +=
        text_of("mismatch in collective %u of a team: ", mismatch.sequence) + mismatch.what + "\n";
  out += text_of_circles(report) + text_of_culprits(report.culprits);
  if (report.waits.empty()) out += "no rank waits\n";
  out += text_of_others(report.others) + text_of_regions(report.classes);
  if (report.left_out != 0)
    out += text_of(
        "%llu more ranks do yet other things and are left out: there are %zu groups of "
        "ranks that do the same above\n",
        static_cast<unsigned long long>(report.left_out), report.classes.size());
  return out + text_of_stacks(report);
}

}  // namespace gex::launch
