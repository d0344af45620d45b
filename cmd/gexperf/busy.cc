#include "busy.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "../output.h"
#include "bare_pairs.h"
#include "child.h"
#include "load.h"

namespace gexperf {

namespace {

/// Each figure of each start is measured for so long for each of the rounds.
constexpr double round_ms = 16;

/// With what of bare pairs an operation is compared.
enum class Bare { round_trip, wake_up, free_wake_up, nothing };
struct Comparison {
  const char* name;
  const char* of_worker;
  Bare over_memory;  ///< nothing: no other rank does what it waits for
  Bare over_network;
};
constexpr Comparison operations[] = {
    {"barrier", "barrier", Bare::round_trip, Bare::round_trip},
    {"am.short.rtt", "am.short.rtt", Bare::round_trip, Bare::round_trip},
    {"put.8", "put.8", Bare::nothing, Bare::round_trip},
    {"fadd.8", "fadd.8", Bare::nothing, Bare::round_trip},
    {"step", "step", Bare::nothing, Bare::nothing},
    {"wake", "wake", Bare::wake_up, Bare::wake_up},
    {"wake.free", "wake", Bare::free_wake_up, Bare::free_wake_up}};
constexpr const char* bare_work_name = "bare.work";
constexpr const char* networks[] = {"smp", "udp", "ofi", "ucx", "mpi", "emu"};

struct Beside {
  const char* name;
  std::optional<Load> (*start)();
  bool has_quota = false;
};
constexpr Beside loads[] = {
    {"quiet", []() -> std::optional<Load> { return std::nullopt; }},
    {"1 process", []() -> std::optional<Load> { return Load::spinning(1); }},
    {"4 processes", []() -> std::optional<Load> { return Load::spinning(4); }},
    {"24 processes", []() -> std::optional<Load> { return Load::spinning(24); }},
    {"mixed", []() -> std::optional<Load> { return Load::mixed(); }},
    {"quota of 1", []() -> std::optional<Load> { return std::nullopt; }, true},
};

using Best = std::pair<double, const char*>;  ///< nanoseconds, 0: none; and of which pair
/// The best of the bare pairs beside one load.
struct BestBare {
  Best round_trip{0, ""};
  Best wake_up{0, ""};
  Best free_wake_up{0, ""};

  Best of(Bare bare) const {
    switch (bare) {
      case Bare::round_trip:
        return round_trip;
      case Bare::wake_up:
        return wake_up;
      case Bare::free_wake_up:
        return free_wake_up;
      case Bare::nothing:
        break;
    }
    return {0, ""};
  }
};

struct Figure {
  std::string name;
  std::string load;
  double ns = 0;
  double of_quiet = 0;  ///< as a multiple of what it takes without load
  double of_share = 0;  ///< and of what bare work becomes beside that load; 0: not measured
  double of_bare = 0;   ///< and of the best bare pair beside the same load; 0: not compared
  std::string bare;     ///< which that is
};

std::string time_text(double ns) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g us", ns / 1e3);
  return text;
}

std::string line(const Figure& figure) {
  char of_quiet[32];
  char of_share[32] = "-";
  char of_bare[64] = "-";
  std::snprintf(of_quiet, sizeof of_quiet, "%.2f", figure.of_quiet);
  if (figure.of_share != 0) std::snprintf(of_share, sizeof of_share, "%.2f", figure.of_share);
  if (figure.of_bare != 0)
    std::snprintf(of_bare, sizeof of_bare, "%.2f (%s)", figure.of_bare, figure.bare.c_str());
  char text[256];
  std::snprintf(text, sizeof text, "%-20s %-14s %12s %10s %10s %16s\n", figure.name.c_str(),
                figure.load.c_str(), time_text(figure.ns).c_str(), of_quiet, of_share, of_bare);
  return text;
}

/// Measures all figures of one load after the other.
class Measuring {
 public:
  Measuring(const Plan& plan, std::set<std::string> wanted, bool json)
      : plan_(plan), wanted_(std::move(wanted)), json_(json) {}

  int run() {
    if (!json_ && gex::cmd::print_output("gexperf", heading()) != 0) return 1;
    for (const Beside& beside : loads)
      if (!measure_beside(beside)) return 1;
    return json_ ? gex::cmd::print_output("gexperf", to_json()) : 0;
  }

 private:
  static std::string heading() {
    char text[256];
    std::snprintf(text, sizeof text, "%-20s %-14s %12s %10s %10s %16s\n", "name", "beside", "time",
                  "of quiet", "of share", "of best bare");
    return text;
  }

  bool fail(const std::string& name, const std::string& trouble) const {
    std::fprintf(stderr, "gexperf: busy: %s: %s\n", name.c_str(), trouble.c_str());
    return false;
  }

  bool measure_beside(const Beside& beside) {
    const ProcessorQuota* quota = nullptr;
    std::optional<ProcessorQuota> made;
    if (beside.has_quota) {
      quota = &made.emplace();
      if (!quota->trouble().empty()) {
        std::fprintf(stderr, "gexperf: busy: '%s' was left out: %s\n", beside.name,
                     quota->trouble().c_str());
        return true;
      }
    }
    const std::optional<Load> load = beside.start();
    if (load && !load->trouble().empty()) return fail(beside.name, load->trouble());
    BestBare best;
    share_ = 0;
    // What the group allows holds for its own processes, to which gexperf does not belong.
    if (quota == nullptr && !measure_bare(beside, best)) return false;
    for (const char* const network : networks) {
      if (!wanted_.contains(network)) continue;
      for (const Comparison& operation : operations) {
        const std::string name = std::string(network) + "." + operation.name;
        std::vector<double> means;
        for (unsigned run = 0; run < plan_.runs; ++run) {
          double mean = 0;
          std::string trouble;
          if (!measure_once(network, operation, quota, mean, trouble)) return fail(name, trouble);
          means.push_back(mean);
        }
        const Bare bare =
            network == std::string("smp") ? operation.over_memory : operation.over_network;
        if (!note(name, beside, median(means), best.of(bare))) return false;
      }
    }
    return true;
  }

  bool measure_bare(const Beside& beside, BestBare& best) {
    const auto measure = [&](const std::string& name, auto once, Best* of_its_kind,
                             const char* kind) {
      std::vector<double> means;
      for (unsigned run = 0; run < plan_.runs; ++run) {
        std::string trouble;
        means.push_back(once(plan_.rounds * round_ms, trouble));
        if (!trouble.empty()) return fail(name, trouble);
      }
      const double ns = median(means);
      if (of_its_kind != nullptr && (of_its_kind->first == 0 || ns < of_its_kind->first))
        *of_its_kind = {ns, kind};
      return note(name, beside, ns, {0, ""});
    };
    if (!measure(bare_work_name, bare_work, nullptr, "")) return false;
    share_ = figures_.back().of_quiet;
    for (const BareWait wait : bare_waits) {
      const std::string name = std::string("bare.") + name_of(wait);
      const auto round_trip = [wait](double milliseconds, std::string& trouble) {
        return bare_round_trip(wait, milliseconds, trouble);
      };
      if (!measure(name, round_trip, &best.round_trip, name_of(wait))) return false;
      if (wait == BareWait::spin) continue;
      const auto wake = [wait](Placing placing) {
        return [wait, placing](double milliseconds, std::string& trouble) {
          return bare_wake_up(wait, placing, milliseconds, trouble);
        };
      };
      if (!measure(name + ".wake", wake(Placing::bound), &best.wake_up, name_of(wait)) ||
          !measure(name + ".wake.free", wake(Placing::free), &best.free_wake_up, name_of(wait)))
        return false;
    }
    return true;
  }

  bool measure_once(const char* network, const Comparison& operation, const ProcessorQuota* quota,
                    double& mean, std::string& trouble) const {
    std::vector<std::string> command{plan_.launcher, "-n", "2"};
    const bool is_apart = network != std::string("smp");
    if (is_apart) command.insert(command.end(), {"--conduit", network});
    if (operation.over_memory == Bare::free_wake_up)
      command.insert(command.end(), {"--bind", "none"});
    command.insert(command.end(), {plan_.worker(Mode::seq), "busy", operation.of_worker,
                                   std::to_string(plan_.rounds * round_ms)});
    if (is_apart) command.emplace_back("apart");
    const Finished finished = gexperf::run(quota != nullptr ? quota->within(command) : command);
    trouble = finished.trouble;
    if (!finished.succeeded) return false;
    if (parse_last_column(finished.output, 1, mean) && mean > 0) return true;
    trouble = "no figure in '" + finished.output + "'";
    return false;
  }

  bool note(const std::string& name, const Beside& beside, double ns, Best best) {
    const double quiet = quiet_.emplace(name, ns).first->second;
    const Figure figure{name,
                        beside.name,
                        ns,
                        ns / quiet,
                        share_ == 0 ? 0 : ns / quiet / share_,
                        best.first == 0 ? 0 : ns / best.first,
                        best.second};
    figures_.push_back(figure);
    return json_ || gex::cmd::print_output("gexperf", line(figure)) == 0;
  }

  std::string to_json() const {
    auto array = nlohmann::ordered_json::array();
    for (const Figure& figure : figures_) {
      nlohmann::ordered_json object{{"name", figure.name}, {"beside", figure.load},
                                    {"ns", figure.ns},     {"of_quiet", figure.of_quiet},
                                    {"of_share", nullptr}, {"of_bare", nullptr},
                                    {"bare", nullptr}};
      if (figure.of_share != 0) object["of_share"] = figure.of_share;
      if (figure.of_bare != 0) {
        object["of_bare"] = figure.of_bare;
        object["bare"] = figure.bare;
      }
      array.push_back(std::move(object));
    }
    return array.dump(2) + "\n";
  }

  const Plan& plan_;
  const std::set<std::string> wanted_;
  const bool json_;
  double share_ = 0;                     ///< what bare work has become, as a multiple
  std::map<std::string, double> quiet_;  ///< what each takes without load
  std::vector<Figure> figures_;
};

}  // namespace

std::string check_busy_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == busy_word) continue;
    if (std::find(std::begin(networks), std::end(networks), word) == std::end(networks))
      return "'" + word + "' is no network that can be measured beside other programs: smp, udp, " +
             "ofi, ucx, mpi, emu";
  }
  return "";
}

int measure_busy(const Plan& plan, const std::vector<std::string>& words, bool json) {
  std::set<std::string> wanted(words.begin(), words.end());
  wanted.erase(std::string(busy_word));
  if (wanted.empty()) wanted.insert("smp");
  return Measuring(plan, std::move(wanted), json).run();
}

}  // namespace gexperf
