#include "measure.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bare.h"
#include "bare_cuda.h"
#include "bare_mpi.h"
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

/// The network that emu pretends to be, and the times that follow from it.
std::vector<std::string> emu_options(const Plan& plan, const Row& row) {
  if (row.over_emu == OverEmu::nothing) return {};
  const EmuTime time = emu_time(row, plan.emu_model, emu_queue());
  return {plan.emu_model, std::to_string(time.alone_ns), std::to_string(time.interval_ns),
          std::to_string(time.under_way), std::to_string(time.together)};
}

/// The processors of all threads of a row, rank 0's first. Where there are too few, in turn.
std::string processor_list(const Plan& plan, const Row& row) {
  std::string list;
  for (unsigned i = 0; i < row.ranks * row.threads; ++i)
    list += (i == 0 ? "" : ",") + std::to_string(plan.processors[i % plan.processors.size()]);
  return list;
}

/// The words behind the number of rounds on a worker's command line.
std::vector<std::string> worker_options(const Plan& plan, const Row& row) {
  if (row.threads != 0) return {std::to_string(row.threads), processor_list(plan, row)};
  if (!row.bytes.empty()) return {std::string(row.bytes), std::string(row.place)};
  return emu_options(plan, row);
}

bool run_worker(const Plan& plan, const Row& row, const char* wanted, std::vector<Sample>& samples,
                double& used_ns, std::string& trouble) {
  // A rank of several threads binds them itself.
  std::vector<std::string> command = {plan.launcher, "-n", std::to_string(row.ranks), "--bind",
                                      row.threads != 0 ? "none" : "core"};
  std::istringstream environment{std::string(row.environment)};
  for (std::string variable; environment >> variable;)
    command.insert(command.end(), {"-E", variable});
  if (row.group == Group::ofi && plan.hosts)
    command.insert(command.end(),
                   {"--rsh", plan.rsh, "--hosts", plan.hosts->first + ',' + plan.hosts->second});
  command.insert(command.end(), {"--conduit", std::string(row.conduit), "--timeout", run_limit});
  std::vector<std::string> worker = {plan.worker(row.mode), wanted, std::string(row.measurement),
                                     std::to_string(plan.rounds)};
  const std::vector<std::string> options = worker_options(plan, row);
  worker.insert(worker.end(), options.begin(), options.end());
  command.insert(command.end(), worker.begin(), worker.end());
  if (needs_mpirun(row)) command = start_by_mpirun(plan, row, worker);
  const Finished job = run(command);
  used_ns += job.processor_ns;
  if (!job.succeeded) {
    trouble = "the measuring job failed: " + job.trouble;
    return false;
  }
  if (!parse_samples(job.output, samples) || samples.size() != plan.rounds) {
    trouble = "the measuring job did not print " + std::to_string(plan.rounds) + " samples";
    return false;
  }
  return true;
}

/// The row whose figure is the limit of this one. The times of both are of one operation, or of one
/// by every thread.
Row limit_of(const Row& row) {
  Row other = row;
  switch (row.against) {
    case Against::nothing:
      break;
    case Against::one_thread:
      other.threads = 1;
      break;
    case Against::as_usual:
      other.environment = "";
      break;
    case Against::two_senders:
      other.ranks = 3;
      break;
    case Against::no_kind:
      other.measurement = "poll.idle";
      break;
  }
  return other;
}

/// A run of a row: the job that measures it and, where that is the limit, another one.
bool run_jobs(const Plan& plan, const Row& row, Run& run, double& used_ns, std::string& trouble) {
  const bool has_other = row.against != Against::nothing;
  const char* const wanted = has_other ? "subject" : row.is_limit() ? "limit" : "measure";
  if (!run_worker(plan, row, wanted, run.samples, used_ns, trouble)) return false;
  if (!has_other) return true;
  std::vector<Sample> samples;
  if (!run_worker(plan, limit_of(row), "subject", samples, used_ns, trouble)) return false;
  for (std::size_t i = 0; i < samples.size(); ++i) run.samples[i].limit = samples[i].subject;
  return true;
}

/// Gives the samples of a row over a network their limit.
bool add_bare(const Plan& plan, const Row& row, Run& run, double& used_ns, std::string& trouble) {
  if (row.bare == Bare::none) return true;
  double ns = 0;
  if (!time_bare(plan, row, ns, used_ns, trouble)) return false;
  for (Sample& sample : run.samples) sample.limit = ns;
  return true;
}

}  // namespace

std::string Plan::worker(Mode mode) const {
  return worker_folder + (mode == Mode::seq ? "/gexperf-seq" : "/gexperf-par");
}

bool Result::below_floor() const {
  return accepted != 0 && (measured < row->floor_ns || (ratio != 0 && ratio < row->floor));
}

double Result::allowed_ratio() const {
  // Rows with an allowance are in nanoseconds.
  return limit == 0 ? 0 : row->allowance_ns / limit;
}

bool Result::met() const {
  if (accepted == 0 || oversubscribed || fake_device || below_floor()) return false;
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
  result.measured = value;
  result.value = row.in_unit(value);
  result.spread = value == 0 ? 0 : (quantile(all, 0.75) - quantile(all, 0.25)) / value;
  if (!ratios.empty()) {
    result.limit = row.in_unit(median(limits));
    result.ratio = median(ratios);
  }
  return result;
}

bool measure(const Plan& plan, const Row& row, Result& result, std::string& trouble) {
  std::vector<Run> runs;
  unsigned quiet = 0;
  while (quiet < plan.runs && runs.size() < plan.max_tries()) {
    const QuietWatch watch;
    Run run;
    double used_ns = 0;
    const bool done = row.is_launch() ? run_launches(plan, row, run, used_ns, trouble)
                                      : run_jobs(plan, row, run, used_ns, trouble);
    if (!done || !add_bare(plan, row, run, used_ns, trouble)) return false;
    run.disturbance = watch.until_now(used_ns);
    if (run.disturbance.quiet()) ++quiet;
    runs.push_back(std::move(run));
  }
  result = summarise(row, runs);
  result.oversubscribed = plan.cores < row.cores();
  if (row.group == Group::cuda) {
    const CudaDevice& device = cuda_device(plan);
    result.device = device.name + ", by " + device.driver;
    result.fake_device = device.is_fake;
  }
  return true;
}

}  // namespace gexperf
