#include "launch.h"

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

/// From before the launcher is started to the moment when rank 0 has come out of the attach, which
/// ends with a barrier.
bool time_launch(const Plan& plan, const Row& row, double& ns, double& used_ns,
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
  if (std::sscanf(job.output.c_str(), "attached %lf", &attached) != 1) {
    trouble = "the launched job did not say when it had attached";
    return false;
  }
  ns = attached - begin;
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
  const unsigned samples = plan.rounds * (row.is_limit() ? limits_per_round : launches_per_round);
  // One more: the first is the one that reads the programs from the disk.
  for (unsigned i = 0; i < samples + 1; ++i) {
    Sample sample{};
    if (!time_trivial_processes(row.ranks, sample.limit, used_ns, trouble)) return false;
    if (!row.is_limit() && !time_launch(plan, row, sample.subject, used_ns, trouble)) return false;
    if (i != 0) run.samples.push_back(sample);
  }
  return true;
}

}  // namespace gexperf
