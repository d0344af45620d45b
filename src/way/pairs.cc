#include "way/pairs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/env.h"
#include "base/error.h"
#include "core/memory_class.h"
#include "core/process.h"
#include "net/registry.h"
#include "way/requirement.h"

namespace gex {

namespace {

/// A rank's ways as they are exchanged.
struct Announced {
  char name[2][64];
  char reason[2][320];
};

Way way_to(std::uint32_t peer) {
  const Process& self = process();
  const char* name = nullptr;
  const char* reason = nullptr;
  if (self.conduit != nullptr && self.conduit->transport != nullptr)
    self.conduit->transport(peer, &name, &reason);
  return {name != nullptr ? name : "", reason != nullptr ? reason : ""};
}

/// This rank's way to all peers of a kind: those that differ are named one after the other.
Way common_way(PairKind kind) {
  const Process& self = process();
  std::vector<Way> ways;
  for (std::uint32_t peer = 0; peer < gex_proc_.jobsize; ++peer) {
    if (peer == gex_proc_.jobrank || kind_of(self.placement, gex_proc_.jobrank, peer) != kind)
      continue;
    Way way = way_to(peer);
    const bool is_new = std::none_of(ways.begin(), ways.end(),
                                     [&](const Way& one) { return one.name == way.name; });
    if (is_new) ways.push_back(std::move(way));
  }
  if (ways.empty()) return {};
  Way common = ways.front();
  for (std::size_t i = 1; i < ways.size(); ++i) common.name.append(" or ").append(ways[i].name);
  return common;
}

const Way& way_of(const WaysOfRank& ways, PairKind kind) {
  return kind == PairKind::one_host ? ways.on_host : ways.to_hosts;
}

/// "0-3" of "ranks 0-3".
std::string plain(const job::RankSet& ranks) {
  const std::string text = job::describe_ranks(ranks);
  return text.substr(text.find(' ') + 1);
}

bool has_neighborhoods(const shm::Placement& placement, const job::RankSet& host) {
  return placement.neighborhood_of(host.front()).size() < host.size();
}

/// Adds the classes of a kind that a network carries: one for each way that ranks take.
void add_classes(std::vector<PairClass>& classes, PairKind kind, std::vector<job::RankSet> groups,
                 std::span<const WaysOfRank> ways) {
  const std::size_t first = classes.size();
  if (ways.empty()) {
    classes.push_back({kind, std::move(groups), {}, {}});
    return;
  }
  std::vector<std::uint32_t> ranks;
  for (const job::RankSet& group : groups) ranks.insert(ranks.end(), group.begin(), group.end());
  std::sort(ranks.begin(), ranks.end());
  for (const std::uint32_t rank : ranks) {
    const Way& way = way_of(ways[rank], kind);
    const auto place =
        std::find_if(classes.begin() + static_cast<std::ptrdiff_t>(first), classes.end(),
                     [&](const PairClass& one) { return one.way.name == way.name; });
    if (place != classes.end())
      place->from.add(rank);
    else
      classes.push_back({kind, groups, job::RankSet{rank}, way});
  }
  if (classes.size() == first + 1) classes.back().from = {};
}

/// Returns the first peer that GEX_REQUIRE does not accept; the job's size: there is no such peer.
std::uint32_t first_refused_peer(const Requirement& required) {
  const Process& self = process();
  for (std::uint32_t peer = 0; peer < gex_proc_.jobsize; ++peer) {
    if (peer == gex_proc_.jobrank) continue;
    const bool accepted = kind_of(self.placement, gex_proc_.jobrank, peer) == PairKind::memory
                              ? required.accepts_shared_memory()
                              : required.accepts(self.conduit->name, way_to(peer).name);
    if (!accepted) return peer;
  }
  return gex_proc_.jobsize;
}

[[noreturn]] void refuse(std::uint32_t peer) {
  const Process& self = process();
  const PairKind kind = kind_of(self.placement, gex_proc_.jobrank, peer);
  std::string what = "shared memory";
  std::string why = self.conduit_reason;
  if (kind != PairKind::memory) {
    const Way way = way_to(peer);
    what = self.conduit->name + (way.name.empty() ? std::string() : ":" + way.name);
    why = "no shared memory: " + why_no_memory(kind) + "; " + self.conduit->name + ": " +
          self.conduit_reason;
    if (!way.reason.empty()) why.append("; ").append(way.name).append(": ").append(way.reason);
    for (const net::PassedOver& one : self.passed_over)
      why.append("; not ").append(one.name).append(": ").append(one.reason);
  }
  fatal("GEX_REQUIRE=%s: ranks %u and %u are connected by %s, which is not in the list (%s)",
        env::text(env::Variable::require).c_str(), gex_proc_.jobrank, peer, what.c_str(),
        why.c_str());
}

}  // namespace

const char* kind_name(PairKind kind) noexcept {
  switch (kind) {
    case PairKind::memory:
      return "memory";
    case PairKind::one_host:
      return "one_host";
    case PairKind::hosts:
      return "hosts";
  }
  return "";
}

PairKind kind_of(const shm::Placement& placement, std::uint32_t a, std::uint32_t b) noexcept {
  if (placement.neighborhood[a] == placement.neighborhood[b]) return PairKind::memory;
  return placement.host[a] == placement.host[b] ? PairKind::one_host : PairKind::hosts;
}

std::vector<PairClass> classify_pairs(const shm::Placement& placement,
                                      std::span<const WaysOfRank> ways) {
  std::vector<PairClass> classes;
  std::vector<job::RankSet> sharing;
  for (const job::RankSet& ranks : placement.neighborhoods())
    if (ranks.size() > 1) sharing.push_back(ranks);
  if (!sharing.empty()) classes.push_back({PairKind::memory, std::move(sharing), {}, {}});
  std::vector<job::RankSet> divided;
  std::vector<job::RankSet> hosts = placement.hosts();
  for (const job::RankSet& ranks : hosts)
    if (has_neighborhoods(placement, ranks)) divided.push_back(ranks);
  if (!divided.empty()) add_classes(classes, PairKind::one_host, std::move(divided), ways);
  if (hosts.size() > 1) add_classes(classes, PairKind::hosts, std::move(hosts), ways);
  return classes;
}

int class_of(const std::vector<PairClass>& classes, const shm::Placement& placement,
             std::uint32_t from, std::uint32_t to) noexcept {
  if (from == to) return -1;
  const PairKind kind = kind_of(placement, from, to);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const PairClass& one = classes[i];
    if (one.kind == kind && (one.from.empty() || one.from.contains(from)))
      return static_cast<int>(i);
  }
  return -1;
}

std::string describe_pairs(const PairClass& pairs) {
  constexpr std::size_t max_groups = 4;
  std::string groups;
  const std::size_t shown = std::min(pairs.groups.size(), max_groups);
  for (std::size_t i = 0; i < shown; ++i)
    groups.append(i == 0 ? "" : " | ").append(plain(pairs.groups[i]));
  if (pairs.groups.size() > shown)
    groups.append(" | and ").append(std::to_string(pairs.groups.size() - shown)).append(" more");
  const std::string from = pairs.from.empty() ? "" : ", from ranks " + plain(pairs.from);
  switch (pairs.kind) {
    case PairKind::memory:
      return pairs.groups.size() == 1 ? "ranks " + groups + " among themselves"
                                      : "ranks of one neighborhood (" + groups + ")";
    case PairKind::one_host:
      return "ranks of one host in different neighborhoods (" + groups + ")" + from;
    case PairKind::hosts:
      return "ranks of different hosts (" + groups + ")" + from;
  }
  return {};
}

std::vector<PairClass> gather_pairs() {
  const Process& self = process();
  Announced mine{};
  const std::array<Way, 2> own{common_way(PairKind::one_host), common_way(PairKind::hosts)};
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::snprintf(mine.name[i], sizeof mine.name[i], "%s", own[i].name.c_str());
    std::snprintf(mine.reason[i], sizeof mine.reason[i], "%s", own[i].reason.c_str());
  }
  const job::Exchanged exchanged = self.job->exchange(std::as_bytes(std::span(&mine, 1)));
  if (!speaks_for_job()) return {};
  std::vector<WaysOfRank> ways;
  ways.reserve(gex_proc_.jobsize);
  for (const Announced& one : exchanged.values<Announced>())
    ways.push_back({{one.name[0], one.reason[0]}, {one.name[1], one.reason[1]}});
  return classify_pairs(self.placement, ways);
}

std::string why_no_memory(PairKind kind) {
  switch (kind) {
    case PairKind::memory:
      break;
    case PairKind::one_host:
      return "GASNET_SUPERNODE_MAXSIZE=" + env::text(env::Variable::supernode_maxsize);
    case PairKind::hosts:
      return "the ranks are on different hosts";
  }
  return {};
}

void require_known_networks() {
  const Requirement required(env::text(env::Variable::require));
  if (required.empty()) return;
  std::vector<std::string> known;
  const auto add = [&known](const std::string& name) {
    if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  for (const net::Declared& one : net::declared()) add(one.name);
  for (const net::PlugIn& one : net::survey().plug_ins) add(one.name);
  if (process().conduit != nullptr) add(process().conduit->name);
  const std::string unknown = required.first_unknown(known);
  if (unknown.empty()) return;
  std::string list = "shm";
  for (const MemoryClassInfo* one : memory_classes()) list.append(", ").append(one->entry);
  for (const std::string& name : known) list.append(", ").append(name);
  fatal("GEX_REQUIRE=%s: there is no network '%s'; known: %s",
        env::text(env::Variable::require).c_str(), unknown.c_str(), list.c_str());
}

void require_ways() {
  const Requirement required(env::text(env::Variable::require));
  job::Job& job = *process().job;
  const std::uint32_t mine = required.is_about_pairs() ? first_refused_peer(required) : job.size();
  std::uint64_t first = mine < job.size() ? job.rank() : job.size();
  job.least({&first, 1});
  if (first == job.size()) return;
  if (first == job.rank()) refuse(mine);
  // The job ends meanwhile.
  job.barrier();
}

}  // namespace gex
