#include "net/choice.h"

#include <algorithm>

#include "net/registry.h"

namespace gex::net {

namespace {

std::string why_not_eligible(const Candidate& candidate) {
  if (candidate.preference == 0) return "chosen by its name only";
  return "it joins the processes of one machine, and the ranks are on several hosts";
}

/// Asks one network; fills in what it answers.
void ask(Candidate& candidate, const Host& host, bool several_hosts) {
  const Found found = look_for(candidate.name);
  if (found.conduit == nullptr) {
    candidate.note = found.missing ? "this libgex was built without it, or libgex-" +
                                         candidate.name + ".so is not installed"
                                   : found.reason;
    return;
  }
  if (found.conduit->standing == nullptr) {
    candidate.standing = by_processor;
    candidate.note = found.conduit->description;
    return;
  }
  const auto keep = [](void* note, const char* text) {
    static_cast<std::string*>(note)->assign(text);
  };
  candidate.standing = found.conduit->standing(&host, several_hosts ? 1 : 0, keep, &candidate.note);
}

}  // namespace

bool is_eligible(const Candidate& candidate, bool several_hosts) noexcept {
  return candidate.preference != 0 && !(candidate.one_machine && several_hosts);
}

const char* standing_text(Standing standing) noexcept {
  switch (standing) {
    case by_hardware:
      return "a network interface moves the bytes by itself";
    case by_processor:
      return "processors move the bytes";
    case unusable:
      break;
  }
  return "it cannot be used here";
}

Ranking rank_networks(const std::vector<Candidate>& candidates, bool several_hosts) {
  Ranking result;
  for (const Candidate& candidate : candidates) {
    if (!is_eligible(candidate, several_hosts))
      result.left_out.push_back(
          {candidate.name, why_not_eligible(candidate), candidate.preference == 0});
    else if (candidate.standing == unusable)
      result.left_out.push_back({candidate.name,
                                 candidate.note.empty() ? standing_text(unusable) : candidate.note,
                                 false});
    else
      result.order.push_back(candidate);
  }
  // The name decides between equals, so that the order in which they were given does not.
  std::sort(result.order.begin(), result.order.end(), [](const Candidate& a, const Candidate& b) {
    if (a.standing != b.standing) return a.standing > b.standing;
    if (a.preference != b.preference) return a.preference > b.preference;
    return a.name < b.name;
  });
  return result;
}

std::vector<Candidate> survey_candidates(const Host& host, bool several_hosts) {
  std::vector<Candidate> candidates;
  for (const Declared& one : declared()) {
    Candidate candidate{one.name, one.preference, one.one_machine, unusable, {}};
    if (is_eligible(candidate, several_hosts)) ask(candidate, host, several_hosts);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace gex::net
