#include "predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../command_line.h"
#include "base/number_ranges.h"
#include "goal.h"
#include "job/limits.h"
#include "machine.h"
#include "output_file.h"
#include "phases.h"
#include "program.h"
#include "recording.h"
#include "replay.h"
#include "scaling.h"
#include "units.h"

namespace gextrace {

namespace {

constexpr const char* usage =
    R"(Usage: gextrace predict --model MODEL [OPTION]... FILE...
  or:  gextrace predict --model MODEL --ranks N [OPTION]... FILE FILE FILE...
Reads the trace of a job (gexrun --trace FILE), and computes how long it would take on another
machine: the ranks compute as long as they did, and wait for a network and memory of these models.
With --ranks, reads the traces of one program with three or more numbers of ranks, and computes how
long it would take with N.

  --model MODEL          the network between hosts, in the form of GEX_EMU: the name of a preset
                         (aries, edr, ...), settings such as latency=1us,bandwidth=12GB/s, or both
  --memory MODEL         the memory within a host, in that form; unless given,
                         latency=150ns,send_overhead=50ns,receive_overhead=50ns,bandwidth=10GB/s
  --per-host P           ranks of a host, which share its port to the network (1)
  --compute FACTOR       computing takes that many times as long as it did (1)
  --ranks N              with N ranks, if what ranks do keeps a law over the recorded sizes
  --work fitted|shared|each|POWER
                         with --ranks, how long they compute: by a law of the recorded times
                         (default); all together, or each of them, as long as in the smallest size;
                         that times this power of the number of ranks
  --collectives A-B      with --ranks, only what is done after the collective operation A of all
                         ranks up to B, numbered from 1 as in the program (0: its begin)
  --goal OUT             write the ranks' schedules for LogGOPSim; no prediction
  -h, --help             print this and exit

docs/prediction.md explains what is computed, and what it leaves out.

Exit status: 0; 1 when FILE cannot be read or shows too little of the job, or OUT cannot be written;
2 for a wrong command line.
)";

constexpr const char* default_memory =
    "latency=150ns,send_overhead=50ns,receive_overhead=50ns,bandwidth=10GB/s";

struct PredictOptions {
  Machine machine;
  bool has_model = false;
  std::uint32_t ranks = 0;  ///< 0: as many as were recorded
  Work work;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> collectives;
  std::string goal;
  std::vector<std::string> files;
};
using PredictReading = gex::cmd::Reading<PredictOptions>;

enum LongOption { model = 256, memory, per_host, compute, ranks, work, collectives, goal };

constexpr option long_options[] = {
    {"model", required_argument, nullptr, model},
    {"memory", required_argument, nullptr, memory},
    {"per-host", required_argument, nullptr, per_host},
    {"compute", required_argument, nullptr, compute},
    {"ranks", required_argument, nullptr, ranks},
    {"work", required_argument, nullptr, work},
    {"collectives", required_argument, nullptr, collectives},
    {"goal", required_argument, nullptr, goal},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

std::optional<double> parse_positive(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number) || number <= 0) return std::nullopt;
  return number;
}

/// A number of ranks.
std::optional<std::uint32_t> parse_number_of_ranks(const std::string& text) {
  constexpr double max_ranks = 1 << 24;
  const auto number = parse_positive(text);
  if (!number || *number != std::floor(*number) || *number > max_ranks) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool parse_work(const std::string& text, Work& work) {
  if (text == "fitted" || text == "shared" || text == "each") {
    work = text == "fitted" ? fitted_work : text == "shared" ? shared_work : work_of_each;
    return true;
  }
  char* end = nullptr;
  work = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*work);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_collectives(const std::string& text) {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> range;
  const bool is_list = gex::for_each_range(text, [&](std::uint32_t first, std::uint32_t last) {
    if (range || first == last) return false;
    range.emplace(first, last);
    return true;
  });
  return is_list ? range : std::nullopt;
}

/// Notes an option that has been read; `found` as getopt_long returns it. Returns a reading where
/// that ends the command line: with a text to print, or a refusal.
std::optional<PredictReading> take_option(const gex::cmd::OptionReader& reader, int found,
                                          PredictOptions& options) {
  const std::string value = reader.value();
  switch (found) {
    case model:
    case memory: {
      std::string why;
      const auto parsed = gex::net::emu::parse_model(value, why);
      if (!parsed)
        return reader.refuse<PredictOptions>(
            std::string(found == model ? "--model '" : "--memory '").append(value).append("': ") +
            why);
      (found == model ? options.machine.network : options.machine.memory) = *parsed;
      options.has_model = options.has_model || found == model;
      break;
    }
    case per_host:
    case ranks: {
      const auto number = parse_number_of_ranks(value);
      if (!number)
        return reader.refuse<PredictOptions>(
            std::string(found == ranks ? "--ranks '" : "--per-host '").append(value) +
            "' is not a number of ranks");
      (found == ranks ? options.ranks : options.machine.ranks_per_host) = *number;
      break;
    }
    case work:
      if (!parse_work(value, options.work))
        return reader.refuse<PredictOptions>(
            "--work '" + value + "' is not fitted, shared, each, nor a power such as 0.5");
      break;
    case collectives:
      options.collectives = parse_collectives(value);
      if (!options.collectives)
        return reader.refuse<PredictOptions>("--collectives '" + value +
                                             "' is not a range such as 3-8");
      break;
    case compute: {
      const auto factor = parse_positive(value);
      if (!factor)
        return reader.refuse<PredictOptions>("--compute '" + value + "' is not a positive number");
      options.machine.compute_factor = *factor;
      break;
    }
    case goal:
      options.goal = value;
      break;
    case 'h':
      return PredictReading{{}, usage, 0};
    default:
      return reader.refuse_option<PredictOptions>(found);
  }
  return std::nullopt;
}

/// Returns why the options do not go together; empty: they do.
std::string why_not_together(const PredictOptions& options) {
  if (options.files.empty()) return "the trace to read is missing";
  if (!options.has_model && options.goal.empty())
    return "--model is missing: the network to predict for, in the form of GEX_EMU";
  if (options.ranks == 0 && (options.work || options.collectives))
    return "--work and --collectives go with --ranks";
  if (options.ranks != 0 && !options.goal.empty())
    return "--goal writes what was recorded: it goes without --ranks";
  return {};
}

PredictReading read_predict_line(int count, char** arguments) {
  PredictOptions options;
  using Reader = gex::cmd::OptionReader;
  const Reader reader("gextrace predict", count, arguments, "h", long_options, Reader::Dashes::two,
                      Reader::Place::anywhere);
  std::string why;
  options.machine.memory = *gex::net::emu::parse_model(default_memory, why);
  for (int found; (found = reader.next()) != -1;)
    if (auto ended = take_option(reader, found, options)) return *ended;
  options.files.assign(reader.rest().begin(), reader.rest().end());
  why = why_not_together(options);
  if (!why.empty()) return reader.refuse<PredictOptions>(why);
  return {std::move(options), {}, 0};
}

std::optional<Programs> read_programs(const std::vector<std::string>& files, std::string& why) {
  const std::optional<Outline> outline = read_outline(files, {}, why);
  if (!outline) return std::nullopt;
  return programs_of(*outline, why);
}

std::string time_of(double ns) {
  return time_text(std::llround(ns));
}

void print_row(const char* what, const std::string& text) {
  std::printf("%-22s %s\n", what, text.c_str());
}

void print(const Programs& programs, const Machine& machine, const Replayed& replayed) {
  const auto ranks = static_cast<double>(replayed.ranks.size());
  double computing = 0, waiting = 0;
  for (const RankTimes& rank : replayed.ranks) {
    computing += rank.computing_ns / ranks;
    waiting += rank.waiting_ns / ranks;
  }
  const auto busiest = std::max_element(
      replayed.hosts.begin(), replayed.hosts.end(),
      [](const auto& one, const auto& other) { return one.busy_ns < other.busy_ns; });
  print_row("program", programs.name);
  print_row("ranks", std::to_string(replayed.ranks.size()) + ", " +
                         std::to_string(machine.ranks_per_host) + " on a host");
  print_row("network", gex::net::emu::describe(machine.network));
  print_row("recorded", time_of(programs.recorded_ns));
  print_row("predicted", time_of(replayed.ns));
  print_row("  computing", time_of(computing) + " a rank");
  print_row("  waiting", time_of(waiting) + " a rank");
  print_row("busiest port", std::to_string(busiest->messages) + " messages, " +
                                bytes_text(busiest->bytes) + ", sends for " +
                                time_of(busiest->busy_ns));
  for (const std::string& remark : programs.remarks) print_row("note", remark);
}

/// Memory of libgex's that a rank takes without segments, with its share of what a host's ranks
/// share, as measured with 1024 and 4096 ranks (docs/performance.md).
constexpr double memory_of_rank = 0.85 * (1 << 20);
constexpr double memory_for_each_rank_of_job = 160;

std::string memory_text(std::uint32_t ranks, std::uint32_t per_host) {
  const double own = memory_of_rank + memory_for_each_rank_of_job * ranks;
  const double host = own * std::min(ranks, per_host);
  return bytes_text(static_cast<std::uint64_t>(own)) + " a rank, " +
         bytes_text(static_cast<std::uint64_t>(host)) +
         " a host, without segments and what the program has";
}

/// Prints the time with another number of ranks. Returns false, with the reason, if there is none.
bool predict_size(const PredictOptions& options, std::string& why) {
  std::map<std::uint32_t, std::vector<Phase>> by_size;
  std::string name;
  for (const std::string& file : options.files) {
    const std::optional<Programs> programs = read_programs({file}, why);
    std::optional<std::vector<Phase>> phases;
    if (programs) phases = phases_of(*programs, why);
    const auto& range = options.collectives;
    if (!phases || (range && !keep_between(*phases, range->first, range->second, why))) {
      why.insert(0, file + ": ");
      return false;
    }
    name = programs->name;
    by_size[static_cast<std::uint32_t>(programs->ranks.size())] = std::move(*phases);
  }
  constexpr std::size_t least_sizes = 3;
  if (by_size.size() < least_sizes) {
    why =
        "--ranks needs traces of one program with three or more numbers of ranks, to see how it "
        "depends on them; these are of " +
        std::to_string(by_size.size());
    return false;
  }
  std::vector<Recorded> recorded;
  std::string sizes;
  for (auto& [size, phases] : by_size) {
    recorded.push_back({size, std::move(phases)});
    sizes.append(sizes.empty() ? "" : ", ").append(std::to_string(size));
  }
  const std::optional<Estimate> found =
      estimate(recorded, options.ranks, options.work, options.machine, why);
  if (!found) return false;
  print_row("program", name);
  print_row("ranks", std::to_string(options.ranks) + ", " +
                         std::to_string(options.machine.ranks_per_host) +
                         " on a host; recorded with " + sizes);
  print_row("network", gex::net::emu::describe(options.machine.network));
  print_row("predicted", time_of(found->ns));
  print_row("  computing", time_of(found->computing_ns) + " a rank");
  print_row("  collectives", time_of(found->collectives_ns));
  print_row("a host's port",
            std::to_string(std::llround(found->port_messages)) + " messages, " +
                bytes_text(static_cast<std::uint64_t>(std::llround(found->port_bytes))) +
                ", sends for " + time_of(found->port_ns));
  print_row("memory of libgex", memory_text(options.ranks, options.machine.ranks_per_host));
  if (options.ranks > gex::job::max_ranks)
    print_row("limit",
              "a job of this libgex has at most " + std::to_string(gex::job::max_ranks) + " ranks");
  char laws[96];
  std::snprintf(laws, sizeof laws,
                "messages and bytes within %.1f%%, computing within %.0f%% of the recorded sizes",
                100 * found->count_misfit, 100 * found->compute_misfit);
  print_row("laws", laws);
  print_row("note", "an estimate by laws and models; no machine has shown it");
  return true;
}

}  // namespace

int predict(int count, char** arguments) {
  const PredictReading reading = read_predict_line(count, arguments);
  if (!reading.message.empty()) return reading.print("gextrace");
  const PredictOptions& options = reading.options;
  if (would_overwrite_a_trace("--goal", options.goal)) return 2;

  std::string why;
  if (options.ranks != 0) {
    if (predict_size(options, why)) return gex::cmd::finish_output("gextrace");
    std::fprintf(stderr, "gextrace: %s\n", why.c_str());
    return 1;
  }
  const std::optional<Programs> programs = read_programs(options.files, why);
  std::optional<Replayed> replayed;
  if (programs && options.goal.empty()) replayed = replay(*programs, options.machine, why);
  if (!why.empty()) {
    std::fprintf(stderr, "gextrace: %s\n", why.c_str());
    return 1;
  }
  if (!options.goal.empty()) {
    OutputFile file(options.goal);
    if (file.stream() != nullptr) write_goal(file.stream(), *programs);
    return file.finish();
  }
  print(*programs, options.machine, *replayed);
  return gex::cmd::finish_output("gextrace");
}

}  // namespace gextrace
