#include "launch/local/binding.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/os_cpu.h"
#include "base/os_topology.h"

namespace gex::launch {

namespace {

using Cores = std::vector<std::uint32_t>;

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

/// "0-3,8"
std::string describe_cores(const Cores& rising) {
  std::string text;
  for (std::size_t i = 0; i < rising.size();) {
    std::size_t last = i;
    while (last + 1 < rising.size() && rising[last + 1] == rising[last] + 1) ++last;
    if (i > 0) text += ',';
    text += std::to_string(rising[i]);
    if (last > i) text += '-' + std::to_string(rising[last]);
    i = last + 1;
  }
  return text;
}

/// Returns true if a program binds the program that it runs.
bool binds(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  constexpr std::array binders = {"taskset", "numactl", "hwloc-bind", "likwid-pin"};
  return std::find(binders.begin(), binders.end(), name) != binders.end();
}

/// Why ranks get no equal shares; "" if they do.
std::string why_no_shares(const BindingFacts& facts) {
  const std::size_t processors = facts.bindable.size();
  if (facts.affinity != facts.bindable)
    return "the launcher is bound to " + describe_cores(facts.affinity) + " of the processors " +
           describe_cores(facts.bindable) + " already";
  if (binds(facts.program)) return facts.program + " binds them";
  if (!facts.variable.empty()) return facts.variable + " names processors for their threads";
  if (facts.ranks == 1) return "one rank may use all of " + counted(processors, "processor");
  if (facts.ranks > processors)
    return counted(facts.ranks, "rank") + " on " + counted(processors, "processor");
  if (facts.ranks > facts.at_a_time)
    return counted(facts.ranks, "rank") + ", and the control group has the time of " +
           counted(facts.at_a_time, "processor");
  return {};
}

/// One processor for each rank, cyclically if there are more ranks.
std::vector<Cores> single_cores(const BindingFacts& facts, const std::string& root) {
  const Cores ordered = os::binding_order(facts.affinity, root);
  std::vector<Cores> cores;
  for (std::uint32_t index = 0; index < facts.ranks && !ordered.empty(); ++index)
    cores.push_back({ordered[index % ordered.size()]});
  return cores;
}

/// All processors that ranks are bound to, each once.
Cores all_of(const BindingPlan& plan) {
  Cores all;
  for (const Cores& one : plan.cores) all.insert(all.end(), one.begin(), one.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string describe(const CoreClaims::Refusal& refusal) {
  const std::string processor = "processor " + std::to_string(refusal.core);
  if (refusal.error == EADDRINUSE) return "other ranks are bound to " + processor + " already";
  return "cannot claim " + processor + " before other jobs: " + std::strerror(refusal.error);
}

}  // namespace

std::optional<Bind> parse_bind(std::string_view word) {
  if (word == "share") return Bind::share;
  if (word == "core") return Bind::core;
  if (word == "none") return Bind::none;
  return std::nullopt;
}

Bind bind_of_environment() {
  const std::string word = env::text(env::Variable::bind);
  const std::optional<Bind> bind = parse_bind(word);
  if (!bind) fatal("GEX_BIND='%s' is %s", word.c_str(), bind_words);
  return *bind;
}

BindingPlan plan_binding(const BindingFacts& facts, const std::string& root) {
  if (facts.wanted == Bind::none) return {{}, "--bind none or GEX_BIND=none"};
  if (facts.bindable.empty()) return {{}, "this system cannot bind processes"};
  if (facts.wanted == Bind::core) return {single_cores(facts, root), {}};
  if (std::string why = why_no_shares(facts); !why.empty()) return {{}, std::move(why)};
  return {os::equal_shares(facts.bindable, facts.ranks, root), {}};
}

std::string variable_that_names_processors() {
  const auto contains = [](const char* variable, const char* part) {
    const auto value = env::value(variable);
    return value && value->find(part) != std::string::npos;
  };
  if (contains("GOMP_CPU_AFFINITY", "")) return "GOMP_CPU_AFFINITY";
  if (contains("KMP_AFFINITY", "proclist")) return "KMP_AFFINITY";
  // OMP_PLACES holds numbers in braces, or names (cores, sockets), which are relative to the
  // processors that a process may use.
  if (contains("OMP_PLACES", "{")) return "OMP_PLACES";
  return {};
}

Binding::Binding(Bind wanted, std::uint32_t ranks, std::string program, std::size_t spare) {
  BindingFacts facts;
  facts.wanted = wanted;
  if (wanted != Bind::none) {
    facts.ranks = ranks;
    facts.affinity = os::affinity();
    facts.bindable = os::bindable_cores();
    facts.at_a_time = os::core_share().at_a_time;
    facts.program = std::move(program);
    facts.variable = variable_that_names_processors();
  }
  plan_ = plan_binding(facts);
  const Cores all = all_of(plan_);
  if (wanted == Bind::core) {
    claims_.claim_free(std::span(all).first(std::min(all.size(), spare)));
    return;
  }
  CoreClaims::Refusal refusal;
  if (all.size() > spare)
    refusal = {EMFILE, all.back()};
  else
    refusal = claims_.claim_all(all);
  if (refusal.error != 0) plan_ = {{}, launch::describe(refusal)};
}

std::span<const std::uint32_t> Binding::cores_of(std::uint32_t index) const noexcept {
  if (plan_.cores.empty()) return {};
  return plan_.cores[index];
}

std::string Binding::describe(std::span<const std::uint32_t> ranks, const std::string& host) const {
  if (plan_.cores.empty()) return "no rank bound on " + host + ": " + plan_.why_not;
  std::string text = counted(ranks.size(), "rank") + " bound to " +
                     counted(all_of(plan_).size(), "processor") + " of " + host + " (";
  constexpr std::size_t max_text = 500;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (text.size() > max_text) return text + ", ...)";
    text += (i == 0 ? "rank " : ", rank ") + std::to_string(ranks[i]) + ": " +
            describe_cores(plan_.cores[i]);
  }
  return text + ')';
}

}  // namespace gex::launch
