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

struct Operation {
  const char* name;    ///< of the worker's
  bool waits_locally;  ///< what it waits for is done by another rank, even over shared memory
};
constexpr Operation operations[] = {
    {"barrier", true}, {"am.short.rtt", true}, {"put.8", false}, {"fadd.8", false}};
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

struct Figure {
  std::string name;
  std::string load;
  double ns = 0;
  double of_quiet = 0;  ///< as a multiple of what it takes without load
  double of_bare = 0;   ///< and of the best bare pair beside the same load; 0: not compared
  std::string bare;     ///< which that is
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string time_text(double ns) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g us", ns / 1e3);
  return text;
}

std::string line(const Figure& figure) {
  char of_quiet[32];
  char of_bare[64] = "-";
  std::snprintf(of_quiet, sizeof of_quiet, "%.2f", figure.of_quiet);
  if (figure.of_bare != 0)
    std::snprintf(of_bare, sizeof of_bare, "%.2f (%s)", figure.of_bare, figure.bare.c_str());
  char text[256];
  std::snprintf(text, sizeof text, "%-20s %-14s %12s %10s %16s\n", figure.name.c_str(),
                figure.load.c_str(), time_text(figure.ns).c_str(), of_quiet, of_bare);
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
    std::snprintf(text, sizeof text, "%-20s %-14s %12s %10s %16s\n", "name", "beside", "mean",
                  "of quiet", "of best bare");
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
    std::pair<double, const char*> best{0, ""};
    // What the group allows holds for its own processes, to which gexperf does not belong.
    if (quota == nullptr && !measure_bare(beside, best)) return false;
    for (const char* const network : networks) {
      if (!wanted_.contains(network)) continue;
      for (const Operation& operation : operations) {
        const std::string name = std::string(network) + "." + operation.name;
        std::vector<double> means;
        for (unsigned run = 0; run < plan_.runs; ++run) {
          double mean = 0;
          std::string trouble;
          if (!measure_once(network, operation, quota, mean, trouble)) return fail(name, trouble);
          means.push_back(mean);
        }
        const bool compared = network != std::string("smp") || operation.waits_locally;
        if (!note(name, beside, median(means), compared ? best : std::pair{0.0, ""})) return false;
      }
    }
    return true;
  }

  bool measure_bare(const Beside& beside, std::pair<double, const char*>& best) {
    for (const BareWait wait : bare_waits) {
      std::vector<double> means;
      for (unsigned run = 0; run < plan_.runs; ++run) {
        std::string trouble;
        means.push_back(bare_round_trip(wait, plan_.rounds * round_ms, trouble));
        if (!trouble.empty()) return fail(name_of(wait), trouble);
      }
      const double ns = median(means);
      if (best.first == 0 || ns < best.first) best = {ns, name_of(wait)};
      if (!note(std::string("bare.") + name_of(wait), beside, ns, {0, ""})) return false;
    }
    return true;
  }

  bool measure_once(const char* network, const Operation& operation, const ProcessorQuota* quota,
                    double& mean, std::string& trouble) const {
    std::vector<std::string> command{plan_.launcher, "-n", "2"};
    const bool is_apart = network != std::string("smp");
    if (is_apart) command.insert(command.end(), {"--conduit", network});
    command.insert(command.end(), {plan_.worker(Mode::seq), "busy", operation.name,
                                   std::to_string(plan_.rounds * round_ms)});
    if (is_apart) command.emplace_back("apart");
    const Finished finished = gexperf::run(quota != nullptr ? quota->within(command) : command);
    trouble = finished.trouble;
    if (!finished.succeeded) return false;
    if (parse_last_column(finished.output, 1, mean) && mean > 0) return true;
    trouble = "no figure in '" + finished.output + "'";
    return false;
  }

  bool note(const std::string& name, const Beside& beside, double ns,
            std::pair<double, const char*> best) {
    const double quiet = quiet_.emplace(name, ns).first->second;
    Figure figure{name,       beside.name, ns, ns / quiet, best.first == 0 ? 0 : ns / best.first,
                  best.second};
    figures_.push_back(figure);
    return json_ || gex::cmd::print_output("gexperf", line(figure)) == 0;
  }

  std::string to_json() const {
    auto array = nlohmann::ordered_json::array();
    for (const Figure& figure : figures_) {
      nlohmann::ordered_json object{{"name", figure.name}, {"beside", figure.load},
                                    {"ns", figure.ns},     {"of_quiet", figure.of_quiet},
                                    {"of_bare", nullptr},  {"bare", nullptr}};
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
