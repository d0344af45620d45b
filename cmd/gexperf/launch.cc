#include "launch.h"

#include <algorithm>
#include <cstdio>

#include "child.h"

namespace gexperf {

namespace {

/// The least that a process can do.
constexpr const char* trivial_program = "true";

/// A launch is short. So many are a round, and of the limit alone so many, for a run to last long
/// against the ticks in which the kernel counts processor time.
constexpr unsigned launches_per_round = 6;
constexpr unsigned limits_per_round = 40;

/// From this number of ranks on, one launch lasts long enough for that.
constexpr unsigned many_ranks = 64;
constexpr unsigned max_rounds_of_many = 3;

/// The measure of a launch: the time from before the launcher is started to the moment when rank 0
/// has come out of the attach, which ends with a barrier; and the memory that rank 0 then has.
struct Launched {
  double ns = 0;
  double kib = 0;
};
bool launch(const Plan& plan, const Row& row, Launched& launched, double& used_ns,
            std::string& trouble) {
  const double begin = monotonic_ns();
  const Finished job =
      run({plan.launcher, "-n", std::to_string(row.ranks), "--bind", "core", "--conduit",
           std::string(row.conduit), plan.worker(row.mode), "attach"});
  used_ns += job.processor_ns;
  if (!job.succeeded) {
    trouble = "the launched job failed: " + job.trouble;
    return false;
  }
  double attached = 0;
  if (std::sscanf(job.output.c_str(), "attached %lf %lf", &attached, &launched.kib) != 2) {
    trouble = "the launched job did not print when it had attached";
    return false;
  }
  launched.ns = attached - begin;
  return true;
}

bool time_trivial_processes(unsigned count, double& ns, double& used_ns, std::string& trouble) {
  const double begin = monotonic_ns();
  const Finished processes = run_together(trivial_program, count);
  ns = monotonic_ns() - begin;
  used_ns += processes.processor_ns;
  if (!processes.succeeded)
    trouble = std::string("running '") + trivial_program + "' failed: " + processes.trouble;
  return processes.succeeded;
}

}  // namespace

bool run_launches(const Plan& plan, const Row& row, Run& run, double& used_ns,
                  std::string& trouble) {
  const bool many = row.ranks >= many_ranks;
  const bool memory = row.quantity == Quantity::memory;
  const unsigned samples =
      many ? std::min(plan.rounds, max_rounds_of_many)
           : plan.rounds * (row.is_limit() ? limits_per_round : launches_per_round);
  // One more, but of many: the first is the one that reads the programs from the disk.
  for (unsigned i = many ? 1 : 0; i < samples + 1; ++i) {
    Sample sample{};
    if (!memory && !time_trivial_processes(row.ranks, sample.limit, used_ns, trouble)) return false;
    Launched launched;
    if (!row.is_limit() && !launch(plan, row, launched, used_ns, trouble)) return false;
    sample.subject = memory ? launched.kib : launched.ns;
    if (i != 0) run.samples.push_back(sample);
  }
  return true;
}

}  // namespace gexperf
