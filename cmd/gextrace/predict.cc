#include "predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../command_line.h"
#include "goal.h"
#include "machine.h"
#include "output_file.h"
#include "program.h"
#include "recording.h"
#include "replay.h"
#include "units.h"

namespace gextrace {

namespace {

constexpr const char* usage =
    R"(Usage: gextrace predict --model MODEL [OPTION]... FILE...
Reads the trace of a job (gexrun --trace FILE), and computes how long it would take on another
machine: the ranks compute as long as they did, and wait for a network and memory of these models.

  --model MODEL          the network between hosts, in the form of GEX_EMU: the name of a preset
                         (aries, edr, ...), settings such as latency=1us,bandwidth=12GB/s, or both
  --memory MODEL         the memory within a host, in that form; unless given,
                         latency=150ns,send_overhead=50ns,receive_overhead=50ns,bandwidth=10GB/s
  --per-host P           ranks of a host, which share its port to the network (1)
  --compute FACTOR       computing takes that many times as long as it did (1)
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
  std::string goal;
  std::vector<std::string> files;
};
using PredictReading = gex::cmd::Reading<PredictOptions>;

enum LongOption { model = 256, memory, per_host, compute, goal };

constexpr option long_options[] = {
    {"model", required_argument, nullptr, model},
    {"memory", required_argument, nullptr, memory},
    {"per-host", required_argument, nullptr, per_host},
    {"compute", required_argument, nullptr, compute},
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

PredictReading read_predict_line(int count, char** arguments) {
  PredictOptions options;
  const gex::cmd::OptionReader reader("gextrace predict", count, arguments, "h", long_options);
  std::string why;
  options.machine.memory = *gex::net::emu::parse_model(default_memory, why);
  for (int found; (found = reader.next()) != -1;) {
    const std::string value = reader.value();
    switch (found) {
      case model:
      case memory: {
        const auto parsed = gex::net::emu::parse_model(value, why);
        if (!parsed)
          return reader.refuse<PredictOptions>(
              std::string(found == model ? "--model '" : "--memory '").append(value).append("': ") +
              why);
        (found == model ? options.machine.network : options.machine.memory) = *parsed;
        options.has_model = options.has_model || found == model;
        break;
      }
      case per_host: {
        const auto ranks = parse_positive(value);
        if (!ranks || *ranks != std::floor(*ranks) || *ranks > 1 << 20)
          return reader.refuse<PredictOptions>("--per-host '" + value +
                                               "' is not a number of ranks");
        options.machine.ranks_per_host = static_cast<std::uint32_t>(*ranks);
        break;
      }
      case compute: {
        const auto factor = parse_positive(value);
        if (!factor)
          return reader.refuse<PredictOptions>("--compute '" + value +
                                               "' is not a positive number");
        options.machine.compute_factor = *factor;
        break;
      }
      case goal:
        options.goal = value;
        break;
      case 'h':
        return {{}, usage, 0};
      default:
        return reader.refuse_option<PredictOptions>(found);
    }
  }
  options.files.assign(reader.rest().begin(), reader.rest().end());
  if (options.files.empty()) return reader.refuse<PredictOptions>("the trace to read is missing");
  if (!options.has_model && options.goal.empty())
    return reader.refuse<PredictOptions>(
        "--model is missing: the network to predict for, in the form of GEX_EMU");
  return {std::move(options), {}, 0};
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

}  // namespace

int predict(int count, char** arguments) {
  const PredictReading reading = read_predict_line(count, arguments);
  if (!reading.message.empty()) return reading.print("gextrace");
  const PredictOptions& options = reading.options;
  if (would_overwrite_a_trace("--goal", options.goal)) return 2;

  std::string why;
  const std::optional<Recording> recording = read_recording(options.files, {}, why);
  std::optional<Programs> programs;
  if (recording) programs = programs_of(recording->job, recording->spans, recording->messages, why);
  std::optional<Replayed> replayed;
  if (programs && options.goal.empty()) replayed = replay(*programs, options.machine, why);
  if (!why.empty()) {
    std::fprintf(stderr, "gextrace: %s\n", why.c_str());
    return 1;
  }
  if (!options.goal.empty())
    return write_output(options.goal, [&](std::FILE* file) { write_goal(file, *programs); });
  print(*programs, options.machine, *replayed);
  return gex::cmd::finish_output("gextrace");
}

}  // namespace gextrace
