#pragma once
// How long it takes to start a job, beside starting as many processes that do nothing.

#include <string>

#include "measure.h"

namespace gexperf {

/// One run of the row, which is a launch or its limit; `used_ns` receives the processor time of all
/// processes it started.
bool run_launches(const Plan& plan, const Row& row, Run& run, double& used_ns,
                  std::string& trouble);

}  // namespace gexperf
