#include "measure.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bare_ofi.h"
#include "child.h"
#include "launch.h"

namespace gexperf {

namespace {

/// A run that has not ended after so many seconds hangs.
constexpr const char* run_limit = "120";

double quantile(std::vector<double> values, double fraction) {
  const auto at = values.begin() + std::lround(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

/// The lines "sample SUBJECT LIMIT" of a worker; false if there is anything else.
bool parse_samples(const std::string& text, std::vector<Sample>& samples) {
  std::istringstream stream(text);
  std::string word;
  while (stream >> word) {
    Sample sample{};
    if (word != "sample" || !(stream >> sample.subject >> sample.limit)) return false;
    samples.push_back(sample);
  }
  return true;
}

/// What the worker is told of the network that emu pretends to be, and of the limit.
std::vector<std::string> words_about_emu(const Plan& plan, const Row& row) {
  if (row.over_emu == OverEmu::nothing) return {};
  const EmuTime time = emu_time(row, plan.emu_model, emu_queue());
  return {plan.emu_model, std::to_string(time.alone_ns), std::to_string(time.interval_ns),
          std::to_string(time.under_way), std::to_string(time.together)};
}

bool run_worker(const Plan& plan, const Row& row, Run& run_of_it, double& used_ns,
                std::string& trouble) {
  std::vector<std::string> command = {plan.launcher, "-n", std::to_string(row.ranks), "--bind",
                                      "core"};
  if (row.group == Group::ofi && plan.hosts)
    command.insert(command.end(),
                   {"--rsh", plan.rsh, "--hosts", plan.hosts->first + ',' + plan.hosts->second});
  command.insert(command.end(), {"--conduit", std::string(row.conduit), "--timeout", run_limit,
                                 plan.worker(row.mode), row.is_limit() ? "limit" : "measure",
                                 std::string(row.measurement), std::to_string(plan.rounds)});
  const std::vector<std::string> about_emu = words_about_emu(plan, row);
  command.insert(command.end(), about_emu.begin(), about_emu.end());
  const Finished job = run(command);
  used_ns = job.processor_ns;
  if (!job.succeeded) {
    trouble = "the measuring job failed: " + job.trouble;
    return false;
  }
  if (!parse_samples(job.output, run_of_it.samples) || run_of_it.samples.size() != plan.rounds) {
    trouble = "the measuring job did not print " + std::to_string(plan.rounds) + " samples";
    return false;
  }
  return true;
}

/// Gives the samples of a row over libfabric their limit.
bool add_bare_ofi(const Plan& plan, const Row& row, Run& run, double& used_ns,
                  std::string& trouble) {
  if (row.bare == BareOfi::none) return true;
  double one_way_ns = 0;
  if (!time_bare_ofi(plan, row.bare, row.bare_bytes, one_way_ns, used_ns, trouble)) return false;
  for (Sample& sample : run.samples)
    sample.limit = row.bare == BareOfi::ping_pong ? 2 * one_way_ns : one_way_ns;
  return true;
}

}  // namespace

std::string Plan::worker(Mode mode) const {
  return worker_folder + (mode == Mode::seq ? "/gexperf-seq" : "/gexperf-par");
}

bool Result::below_floor() const {
  return accepted != 0 &&
         (value * row->in_unit() < row->floor_ns || (ratio != 0 && ratio < row->floor));
}

double Result::allowed_ratio() const {
  return limit == 0 ? 0 : row->allowance_ns / (limit * row->in_unit());
}

bool Result::met() const {
  if (accepted == 0 || below_floor()) return false;
  switch (row->held) {
    case Budget::none:
      return false;
    case Budget::ratio:
      return ratio <= row->budget + allowed_ratio();
    case Budget::value:
      return value <= row->budget;
    case Budget::excess:
      return value - limit <= row->budget;
  }
  return false;
}

Result summarise(const Row& row, const std::vector<Run>& runs) {
  Result result{.row = &row};
  result.tried = static_cast<unsigned>(runs.size());
  for (const Run& run : runs) {
    if (run.disturbance.quiet()) {
      ++result.accepted;
      continue;
    }
    result.worst.others = std::max(result.worst.others, run.disturbance.others);
    result.worst.stolen = std::max(result.worst.stolen, run.disturbance.stolen);
  }

  std::vector<double> all;
  std::vector<double> values;
  std::vector<double> limits;
  std::vector<double> ratios;
  for (const Run& run : runs) {
    if (result.accepted != 0 && !run.disturbance.quiet()) continue;
    std::vector<double> run_values;
    std::vector<double> run_limits;
    std::vector<double> run_ratios;
    for (const Sample& sample : run.samples) {
      run_values.push_back(row.is_limit() ? sample.limit : sample.subject);
      if (row.is_limit() || sample.limit == 0) continue;
      run_limits.push_back(sample.limit);
      run_ratios.push_back(sample.subject / sample.limit);
    }
    all.insert(all.end(), run_values.begin(), run_values.end());
    values.push_back(median(run_values));
    if (run_ratios.empty()) continue;
    limits.push_back(median(run_limits));
    ratios.push_back(median(run_ratios));
  }
  const double value = median(values);
  result.value = value / row.in_unit();
  result.spread = value == 0 ? 0 : (quantile(all, 0.75) - quantile(all, 0.25)) / value;
  if (!ratios.empty()) {
    result.limit = median(limits) / row.in_unit();
    result.ratio = median(ratios);
  }
  return result;
}

bool measure(const Plan& plan, const Row& row, Result& result, std::string& trouble) {
  std::vector<Run> runs;
  unsigned quiet = 0;
  while (quiet < plan.runs && runs.size() < plan.most_tries()) {
    const QuietWatch watch;
    Run run;
    double used_ns = 0;
    const bool done = row.is_launch() ? run_launches(plan, row, run, used_ns, trouble)
                                      : run_worker(plan, row, run, used_ns, trouble);
    if (!done || !add_bare_ofi(plan, row, run, used_ns, trouble)) return false;
    run.disturbance = watch.until_now(used_ns);
    if (run.disturbance.quiet()) ++quiet;
    runs.push_back(std::move(run));
  }
  result = summarise(row, runs);
  return true;
}

}  // namespace gexperf
