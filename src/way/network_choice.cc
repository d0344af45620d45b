#include "way/network_choice.h"

#include <gex/plugin/all_ranks.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_signal.h"
#include "core/process.h"
#include "core/thread.h"
#include "job/finalizer.h"
#include "net/choice.h"
#include "net/registry.h"

namespace gex {

namespace {

bool spans_hosts() {
  return process().placement.host_count > 1;
}

/// Ends the job if what the conduit has reported is not what the interface asks for.
void check_limits() {
  const Process& self = process();
  if (self.network.max_message < 1024 || self.network.reply_depth < 1)
    fatal("conduit %s: messages of %zu bytes and %u replies a peer are below the minimum",
          self.conduit->name, self.network.max_message, self.network.reply_depth);
  if (self.conduit->put != nullptr && self.network.max_transfer < 1)
    fatal("conduit %s has put and get, but its max_transfer is 0", self.conduit->name);
  if (self.network.key_bytes % 8 != 0 || self.network.key_bytes > net::max_key_bytes)
    fatal("conduit %s: key_bytes is %u; expected a multiple of 8, at most %zu", self.conduit->name,
          self.network.key_bytes, net::max_key_bytes);
}

/// The network's library finalizes with the job whatever it has initialized in this process.
void set_finalizer_of_network() {
  using Standing = job::Finalizer::Standing;
  const net::Conduit& conduit = *process().conduit;
  if (conduit.finalize == nullptr) return;
  const auto standing = [](bool by_exit) noexcept {
    switch (process().conduit->finalization(by_exit ? 1 : 0)) {
      case net::finalization_ready:
        return Standing::ready;
      case net::finalization_refused:
        return Standing::stays_open;
      case net::finalization_needless:
        break;
    }
    return Standing::closed;
  };
  job::set_finalizer(
      {conduit.finalizer, standing, []() noexcept { process().conduit->finalize(); }});
}

void attach_named(const net::Host& host) {
  Process& self = process();
  if ((self.conduit->capabilities & net::one_machine) != 0 && spans_hosts())
    fatal("conduit %s joins the processes of one machine; this job has ranks on %u hosts",
          self.conduit->name, self.placement.host_count);
  const os::KeptSignalHandling kept;
  if (self.conduit->attach(&host, &self.network) != 0)
    fatal("conduit %s cannot be used here", self.conduit->name);
}

/// Collective: the text of the lowest rank that has one.
std::string common_text(const net::Host& host, const std::string& text) {
  const std::uint32_t first = net::first_rank_with(host, !text.empty());
  if (first == host.size) return net::standing_text(net::unusable);
  std::array<char, 640> common{};
  std::snprintf(common.data(), common.size(), "%s", text.c_str());
  net::take_from_rank(host, first, common);
  return common.data();
}

/// Asks the networks on each host, by its first rank, and makes their standings those of the job.
std::vector<net::Candidate> survey_job(const net::Host& host) {
  Process& self = process();
  job::Job& job = *self.job;
  constexpr std::uint64_t no_objection = ~std::uint64_t{0};
  /// The standing of each network, and behind it the rank that has found it; and rank 0's again.
  std::vector<std::uint64_t> standings(2 * net::declared().size(), no_objection);
  constexpr unsigned rank_bits = 32;
  std::vector<net::Candidate> candidates;
  if (own_host().front() == job.rank()) {
    const os::KeptSignalHandling kept;
    candidates = net::survey_candidates(host, spans_hosts());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      standings[2 * i] = std::uint64_t{candidates[i].standing} << rank_bits | job.rank();
      if (job.rank() == 0) standings[2 * i + 1] = standings[2 * i];
    }
  } else {
    for (const net::Declared& one : net::declared())
      candidates.push_back({one.name, one.preference, one.one_machine, net::unusable, {}});
  }
  job.least(standings);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t worst = standings[2 * i];
    const auto rank = static_cast<std::uint32_t>(worst);
    net::Candidate& candidate = candidates[i];
    // Rank 0, which reports, has a text of its own otherwise.
    if (worst >> rank_bits < standings[2 * i + 1] >> rank_bits) {
      const std::string note = common_text(host, job.rank() == rank ? candidate.note : "");
      candidate.note = "rank " + std::to_string(rank) + " (another host): " + note;
    }
    candidate.standing = static_cast<net::Standing>(worst >> rank_bits);
  }
  return candidates;
}

/// Collective: whether a network that the rule proposes can be used; `reason`: why not.
bool try_to_attach(const net::Conduit& conduit, const net::Host& host, std::string& reason) {
  Process& self = process();
  std::vector<std::string> warnings;
  keep_conduit_warnings(&warnings);
  int refused = 0;
  {
    const os::KeptSignalHandling kept;
    refused = conduit.attach(&host, &self.network);
  }
  keep_conduit_warnings(nullptr);
  if (refused == 0) {
    for (const std::string& text : warnings) warn("%s", text.c_str());
    return true;
  }
  self.network = {};
  reason = common_text(host, warnings.empty() ? std::string() : warnings.back());
  return false;
}

void pass_over(std::string name, std::string reason) {
  Process& self = process();
  if (speaks_for_job()) inform("network %s is not used: %s", name.c_str(), reason.c_str());
  self.passed_over.push_back({std::move(name), std::move(reason)});
}

/// The best that can be used. Ends the job if none can.
void attach_best(const net::Host& host) {
  Process& self = process();
  const net::Ranking ranking = net::rank_networks(survey_job(host), spans_hosts());
  for (const net::PassedOver& one : ranking.left_out)
    if (!one.by_name_only) pass_over(one.name, one.reason);
  for (auto candidate = ranking.order.begin(); candidate != ranking.order.end(); ++candidate) {
    // One that was surveyed on another rank of this host only; `find` ends the job without it.
    const net::Conduit* const conduit = net::find(candidate->name);
    std::string reason;
    if (!try_to_attach(*conduit, host, reason)) {
      pass_over(candidate->name, reason);
      continue;
    }
    self.conduit = conduit;
    self.conduit_name = candidate->name;
    self.conduit_reason = "the best network here, for ranks that do not share memory";
    for (auto worse = candidate + 1; worse != ranking.order.end(); ++worse)
      self.passed_over.push_back({worse->name, candidate->name + " is better"});
    for (const net::PassedOver& one : ranking.left_out)
      if (one.by_name_only) self.passed_over.push_back(one);
    return;
  }
  // One line, by rank 0, whose reasons are the fullest; the others wait for the end of the job.
  if (self.job->rank() != 0) self.job->barrier();
  std::string reasons;
  for (const net::PassedOver& one : self.passed_over)
    reasons.append(reasons.empty() ? "" : "; ").append(one.name).append(": ").append(one.reason);
  fatal(
      "%u of %u processes are outside this one's memory (%s), and no network reaches them (%s); "
      "GEX_CONDUIT chooses one by its name, gexinfo lists them",
      self.job->size() - self.neighborhood.size(), self.job->size(),
      self.neighborhood.size_reason().c_str(),
      reasons.empty() ? "this libgex has none that it chooses by itself" : reasons.c_str());
}

}  // namespace

void name_network(const std::string& label) {
  Process& self = process();
  const std::string wanted = env::text(env::Variable::conduit);
  if (!wanted.empty()) {
    self.conduit_name = wanted;
    self.conduit_reason = "GEX_CONDUIT";
  } else if (!label.empty()) {
    self.conduit_name = label;
    self.conduit_reason = "what the client was compiled for";
  } else {
    return;
  }
  if (self.conduit_name != "smp") self.conduit = net::find(self.conduit_name);
}

void attach_network(Deliver deliver) {
  Process& self = process();
  const bool all_share_memory = self.neighborhood.size() == self.job->size();
  if (self.conduit_name.empty() && all_share_memory) {
    self.conduit_name = "smp";
    self.conduit_reason = "all ranks share memory";
  }
  if (self.conduit_name == "smp") {
    if (!all_share_memory)
      fatal(
          "conduit smp has no network, but %u of %u processes are outside this one's memory (%s); "
          "choose a network with GEX_CONDUIT",
          self.job->size() - self.neighborhood.size(), self.job->size(),
          self.neighborhood.size_reason().c_str());
    return;
  }
  const net::Host& host = complete_conduit_host(deliver);
  if (self.conduit != nullptr)
    attach_named(host);
  else
    attach_best(host);
  set_finalizer_of_network();
  check_limits();
  // The thread that starts the library came before the network.
  enter_lane(this_thread());
}

}  // namespace gex
