#include "pairs.h"

#include <algorithm>

#include "base/env.h"
#include "core/process.h"
#include "net/choice.h"
#include "net/registry.h"
#include "way/pairs.h"

namespace gexinfo {

namespace {

using gex::PairClass;
using gex::PairKind;

std::vector<gex::net::Means> means_in_memory() {
  std::vector<gex::net::Means> means;
  for (const gex::net::NetworkOperation& operation : gex::net::operations())
    means.push_back(means_of(operation, nullptr));
  return means;
}

PairFacts in_memory(std::string ranks) {
  PairFacts facts{};
  facts.ranks = std::move(ranks);
  facts.kind = kind_name(PairKind::memory);
  facts.network = "shm";
  facts.means = means_in_memory();
  const LimitFacts within = limits();
  facts.limits = {within.medium, within.long_message, within.long_message, 0, within.outstanding};
  facts.outstanding_to_all = within.outstanding_to_all;
  return facts;
}

PairFacts describe(const PairClass& pairs) {
  const gex::Process& process = gex::process();
  PairFacts facts{};
  if (pairs.kind == PairKind::memory) {
    facts = in_memory(describe_pairs(pairs));
  } else {
    const Probe own = probe_own();
    facts.ranks = describe_pairs(pairs);
    facts.kind = kind_name(pairs.kind);
    facts.network = own.name;
    facts.way = pairs.way.name;
    facts.means = own.means;
    facts.limits = own.limits;
    facts.why_no_memory = gex::why_no_memory(pairs.kind);
    facts.why_way = pairs.way.reason;
    for (const gex::net::PassedOver& one : process.passed_over)
      facts.instead.push_back({one.name, 0, one.reason});
  }
  for (const gex::job::RankSet& ranks : pairs.groups)
    facts.groups.emplace_back(ranks.begin(), ranks.end());
  facts.from.assign(pairs.from.begin(), pairs.from.end());
  return facts;
}

bool is_of_one_machine(const ConduitFacts& conduit) {
  const auto declared = gex::net::declared();
  return std::any_of(declared.begin(), declared.end(), [&](const gex::net::Declared& one) {
    return one.name == conduit.name && one.one_machine;
  });
}

/// The network that carries messages between hosts in jobs of this environment.
std::optional<PairFacts> between_hosts(const Conduits& conduits,
                                       const std::vector<RulePlace>& rule) {
  std::string name = gex::env::text(gex::env::Variable::conduit);
  if (name.empty() && !rule.empty() && rule.front().place == 1) name = rule.front().name;
  const auto found =
      std::find_if(conduits.list.begin(), conduits.list.end(), [&](const ConduitFacts& conduit) {
        return (conduit.name == name || (!conduit.file.empty() && conduit.file == name)) &&
               conduit.name != "smp" && conduit.probe.refusal.empty() &&
               !is_of_one_machine(conduit);
      });
  if (found == conduits.list.end()) return std::nullopt;
  PairFacts facts{};
  facts.ranks = "ranks of different hosts";
  facts.kind = kind_name(PairKind::hosts);
  facts.network = found->name;
  facts.way = found->probe.standing_note;
  facts.means = found->probe.means;
  facts.limits = found->probe.limits;
  facts.why_no_memory = gex::why_no_memory(PairKind::hosts);
  return facts;
}

}  // namespace

std::vector<RulePlace> places(const Conduits& conduits) {
  std::vector<gex::net::Candidate> candidates;
  for (const gex::net::Declared& one : gex::net::declared()) {
    gex::net::Candidate candidate{one.name, one.preference, one.one_machine, gex::net::unusable,
                                  "this libgex was built without it, or its plug-in is not here"};
    for (const ConduitFacts& conduit : conduits.list) {
      if (conduit.name != candidate.name) continue;
      candidate.standing = static_cast<gex::net::Standing>(conduit.probe.standing);
      candidate.note =
          conduit.probe.refusal.empty() ? conduit.probe.standing_note : conduit.probe.refusal;
      break;
    }
    candidates.push_back(std::move(candidate));
  }
  const gex::net::Ranking ranking = gex::net::rank_networks(candidates, /*several_hosts=*/true);
  std::vector<RulePlace> result;
  for (const gex::net::Candidate& one : ranking.order) {
    const auto place = static_cast<std::uint32_t>(result.size() + 1);
    result.push_back({one.name, place,
                      std::string(standing_text(one.standing)) + ", preference " +
                          std::to_string(one.preference) + ": " + one.note});
  }
  for (const gex::net::PassedOver& one : ranking.left_out)
    result.push_back({one.name, 0, one.reason});
  return result;
}

PairsFacts gather_pairs(const Conduits& conduits, bool wants_matrix, gex_Client_t client,
                        gex_TM_t team) {
  const gex::Process& process = gex::process();
  const std::vector<PairClass> classes = gex::gather_pairs();
  PairsFacts facts{};
  facts.job = job();
  facts.is_job = process.job->size() > 1;
  for (const PairClass& one : classes) facts.classes.push_back(describe(one));
  if (facts.is_job) facts.devices = gather_device_routes(client, team);
  if (!facts.is_job) {
    facts.rule = places(conduits);
    facts.classes.push_back(in_memory("ranks of one host"));
    if (auto hosts = between_hosts(conduits, facts.rule))
      facts.classes.push_back(std::move(*hosts));
  }
  if (!wants_matrix) return facts;
  for (std::uint32_t from = 0; from < process.job->size(); ++from) {
    std::vector<int>& row = facts.matrix.emplace_back();
    for (std::uint32_t to = 0; to < process.job->size(); ++to)
      row.push_back(class_of(classes, process.placement, from, to));
  }
  return facts;
}

}  // namespace gexinfo
