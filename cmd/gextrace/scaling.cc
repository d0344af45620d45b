#include "scaling.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

#include "replay.h"
#include "team/barrier_plan.h"

namespace gextrace {

namespace {

constexpr double max_count_misfit = 0.1;
constexpr double max_compute_misfit = 0.5;
/// Computing times below this part of all are noise: their misfit does not matter.
constexpr double noise = 0.02;

/// One phase at all recorded sizes.
class PhaseLaws {
 public:
  PhaseLaws(const std::vector<Recorded>& recorded, std::size_t number, Work work)
      : recorded_(recorded), number_(number), work_(work) {
    for (const Recorded& one : recorded) sizes_.push_back(one.ranks);
  }

  /// Returns false, with the reason, if the sizes differ in kind.
  bool read(std::string& why) {
    const Phase& first = recorded_.front().phases[number_];
    for (const Recorded& one : recorded_) {
      const Phase& phase = one.phases[number_];
      const bool alike =
          phase.collective == first.collective && phase.traffic.size() == first.traffic.size() &&
          std::equal(phase.traffic.begin(), phase.traffic.end(), first.traffic.begin(),
                     [](const Traffic& of_this, const Traffic& of_first) {
                       return of_this.kind == of_first.kind && of_this.offset == of_first.offset;
                     });
      if (alike) continue;
      why = "what ranks send" + between(first.number) + " is of another kind with " +
            std::to_string(one.ranks) + " ranks than with " +
            std::to_string(recorded_.front().ranks);
      return false;
    }
    return true;
  }

  /// The phase with so many ranks.
  Phase at(double ranks) {
    const Phase& first = recorded_.front().phases[number_];
    Phase phase = first;
    phase.before = computing(ranks, [](const Phase& of) { return of.before; });
    phase.beside = computing(ranks, [](const Phase& of) { return of.beside; });
    phase.after = computing(ranks, [](const Phase& of) { return of.after; });
    phase.rounds = count(ranks, [](const Phase& of) { return of.rounds; });
    phase.collective_bytes = count(ranks, [](const Phase& of) { return of.collective_bytes; });
    for (std::size_t i = 0; i < phase.traffic.size(); ++i) {
      phase.traffic[i].messages =
          count(ranks, [i](const Phase& of) { return of.traffic[i].messages; });
      phase.traffic[i].bytes = count(ranks, [i](const Phase& of) { return of.traffic[i].bytes; });
    }
    return phase;
  }

  double count_misfit() const { return count_misfit_; }
  /// The largest misfit of the computing times that are at least that long.
  double compute_misfit(double least_ns) const {
    double misfit = 0;
    for (const auto& [ns, of_law] : compute_misfits_)
      if (ns >= least_ns) misfit = std::max(misfit, of_law);
    return misfit;
  }

 private:
  template <class Number>
  std::vector<double> numbers(Number number) const {
    std::vector<double> all;
    for (const Recorded& one : recorded_) all.push_back(number(one.phases[number_]));
    return all;
  }

  template <class Number>
  double count(double ranks, Number number) {
    const std::vector<double> all = numbers(number);
    const bool some = std::any_of(all.begin(), all.end(), [](double one) { return one == 0; });
    if (some && std::any_of(all.begin(), all.end(), [](double one) { return one != 0; })) {
      count_misfit_ = 1;
      return 0;
    }
    const Law law = fit(sizes_, all);
    count_misfit_ = std::max(count_misfit_, law.misfit);
    return law.at(ranks);
  }

  template <class Number>
  double computing(double ranks, Number number) {
    std::vector<double> all = numbers(number);
    if (work_) return all.front() * std::pow(ranks / sizes_.front(), *work_);
    const double longest = *std::max_element(all.begin(), all.end());
    // No law has a zero, and a nanosecond is as little.
    for (double& one : all) one = std::max(one, 1.0);
    const Law law = fit(sizes_, all);
    compute_misfits_.emplace_back(longest, law.misfit);
    return law.at(ranks);
  }

  const std::vector<Recorded>& recorded_;
  std::size_t number_;
  Work work_;
  std::vector<double> sizes_;
  double count_misfit_ = 0;
  std::vector<std::pair<double, double>> compute_misfits_;  ///< of times
};

/// Adds a phase's time to an estimate, of hosts that all do alike.
class HostTimes {
 public:
  HostTimes(const Machine& machine, std::uint32_t ranks) : machine_(machine), ranks_(ranks) {}

  void add(Estimate& estimate, const Phase& phase) {
    const gex::net::emu::Model& network = machine_.network;
    double processor = 0, port = 0, links = 0, crossing = 0, latencies = 0;
    for (const Traffic& traffic : phase.traffic) {
      const double away = peers_away(traffic) * traffic.messages;
      const double here = (peers(traffic) * traffic.messages) - away;
      const bool is_message = traffic.kind == Step::Kind::send;
      processor += away * (network.send_overhead + (is_message ? network.receive_overhead : 0)) +
                   here * (machine_.memory.send_overhead + copy_time(traffic.bytes));
      const double each =
          std::max(network.bandwidth == 0 ? 0 : traffic.bytes / network.bandwidth * 1e9,
                   network.rate == 0 ? 0 : 1e9 / network.rate);
      const double of_host =
          away * (traffic.offset == Traffic::with_first ? 1 : machine_.ranks_per_host);
      port += of_host * each;
      links = std::max(links, traffic.messages * network.gap);
      if (network.bisection != 0)
        crossing += across(traffic) * traffic.messages * traffic.bytes / network.bisection * 1e9;
      latencies = std::max(
          latencies, (is_message ? 1 : 2) * (away > 0 ? network.latency : machine_.memory.latency));
      estimate.port_messages += of_host;
      estimate.port_bytes += of_host * traffic.bytes;
    }
    const double factor = machine_.compute_factor;
    const double own = phase.beside * factor + processor;
    estimate.computing_ns += (phase.before + phase.beside + phase.after) * factor;
    estimate.port_ns += port;
    estimate.ns += (phase.before + phase.after) * factor + std::max({own, port, links, crossing}) +
                   phase.rounds * latencies;
    if (!phase.collective) return;
    const double collective =
        collective_time(*phase.collective, static_cast<std::uint64_t>(phase.collective_bytes));
    estimate.collectives_ns += collective;
    estimate.ns += collective;
  }

 private:
  double copy_time(double bytes) const {
    return machine_.memory.bandwidth == 0 ? 0 : bytes / machine_.memory.bandwidth * 1e9;
  }
  static bool is_with_all(const Traffic& traffic) {
    return traffic.offset == Traffic::all || traffic.offset == Traffic::with_first;
  }
  double peers(const Traffic& traffic) const { return is_with_all(traffic) ? ranks_ - 1.0 : 1.0; }
  /// How many of the peers are on other hosts, on average over the ranks of a host.
  double peers_away(const Traffic& traffic) const {
    const double near = std::min<double>(machine_.ranks_per_host, ranks_);
    if (is_with_all(traffic)) return ranks_ - near;
    return near == ranks_ ? 0
                          : std::min(std::abs(static_cast<double>(traffic.offset)), near) / near;
  }
  /// Pairs of ranks of which one is in each half of the hosts.
  double across(const Traffic& traffic) const {
    const double half = ranks_ / 2.0;
    if (traffic.offset == Traffic::all) return 2 * half * half;
    if (traffic.offset == Traffic::with_first) return half;
    return 2 * std::min(std::abs(static_cast<double>(traffic.offset)), half);
  }

  double collective_time(CollectiveShape shape, std::uint64_t bytes) {
    const auto [found, is_new] = collectives_.try_emplace({shape, bytes}, 0.0);
    if (!is_new) return found->second;
    const std::uint32_t last = ranks_ - 1;
    if (shape == CollectiveShape::barrier) {
      const gex::team::Dissemination plan{machine_.host_of(last) + 1};
      const bool shares = machine_.ranks_per_host > 1 && ranks_ > 1;
      return found->second = plan.rounds() * machine_.one_way(0, last, 0) +
                             (shares ? 2 * machine_.one_way(0, 1, 0) : 0);
    }
    ProgramCollective all{shape, std::vector<std::uint32_t>(ranks_), bytes};
    std::iota(all.members.begin(), all.members.end(), 0U);
    const std::vector<double> over =
        completions_of(all, machine_, std::vector<double>(ranks_, 0.0));
    return found->second = *std::max_element(over.begin(), over.end());
  }

  const Machine& machine_;
  std::uint32_t ranks_;
  std::map<std::pair<CollectiveShape, std::uint64_t>, double> collectives_;
};

std::string percent(double part) {
  return std::to_string(std::lround(100 * part)) + "%";
}

}  // namespace

double Law::at(double ranks) const {
  return factor * std::pow(ranks, power) * std::pow(std::log2(ranks), logarithms);
}

Law fit(std::span<const double> sizes, std::span<const double> numbers) {
  Law best;
  if (numbers.front() == 0) return best;
  best.misfit = -1;
  // A logarithm needs sizes above one.
  const bool logarithmic = sizes.front() > 1;
  for (const double logarithms : {0.0, 1.0}) {
    if (logarithms != 0 && !logarithmic) continue;
    double mean_x = 0, mean_y = 0;
    std::vector<double> x, y;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      x.push_back(std::log(sizes[i]));
      y.push_back(std::log(numbers[i]) - (logarithms != 0 ? std::log(std::log2(sizes[i])) : 0.0));
      mean_x += x[i] / static_cast<double>(sizes.size());
      mean_y += y[i] / static_cast<double>(sizes.size());
    }
    double covariance = 0, variance = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      covariance += (x[i] - mean_x) * (y[i] - mean_y);
      variance += (x[i] - mean_x) * (x[i] - mean_x);
    }
    Law law;
    law.power = covariance / variance;
    law.factor = std::exp(mean_y - law.power * mean_x);
    law.logarithms = logarithms;
    for (std::size_t i = 0; i < x.size(); ++i)
      law.misfit = std::max(law.misfit, std::abs(law.at(sizes[i]) / numbers[i] - 1));
    // Without a logarithm where it is as good.
    if (best.misfit < 0 || law.misfit < best.misfit - 1e-6) best = law;
  }
  return best;
}

std::optional<Estimate> estimate(const std::vector<Recorded>& recorded, std::uint32_t ranks,
                                 Work work, const Machine& machine, std::string& why) {
  const std::size_t phases = recorded.front().phases.size();
  for (const Recorded& one : recorded) {
    if (one.phases.size() == phases) continue;
    why = "with " + std::to_string(one.ranks) + " ranks there are " +
          std::to_string(one.phases.size() - 1) + " collective operations, with " +
          std::to_string(recorded.front().ranks) + " there are " + std::to_string(phases - 1);
    return std::nullopt;
  }
  Estimate result;
  HostTimes times(machine, ranks);
  std::vector<PhaseLaws> laws;
  for (std::size_t number = 0; number < phases; ++number) {
    laws.emplace_back(recorded, number, work);
    if (!laws.back().read(why)) return std::nullopt;
    times.add(result, laws.back().at(ranks));
    result.count_misfit = std::max(result.count_misfit, laws.back().count_misfit());
    if (laws.back().count_misfit() <= max_count_misfit) continue;
    why = "messages, bytes or waits" + between(recorded.front().phases[number].number) +
          " keep no law a * N^b * log(N)^c within " + percent(max_count_misfit) +
          " (it misses by " + percent(laws.back().count_misfit()) + ")";
    return std::nullopt;
  }
  double all = 0;
  for (const Phase& phase : recorded.front().phases)
    all += phase.before + phase.beside + phase.after;
  for (const PhaseLaws& one : laws)
    result.compute_misfit = std::max(result.compute_misfit, one.compute_misfit(noise * all));
  if (result.compute_misfit <= max_compute_misfit) return result;
  why = "computing times keep no law a * N^b * log(N)^c within " + percent(max_compute_misfit) +
        " (one misses by " + percent(result.compute_misfit) +
        "): record with a core for each rank, or give --work";
  return std::nullopt;
}

}  // namespace gextrace
