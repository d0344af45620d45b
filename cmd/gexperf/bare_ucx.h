#pragma once
// The limits of rows over ucx: UCX itself, without libgex, over the same transports and on the same
// two processors, as `ucx_perftest`, which comes with it, finds them.

#include <string>

#include "measure.h"

namespace gexperf {

/// Why rows over ucx cannot be measured here; empty: they can.
std::string why_no_bare_ucx();

/// How long the row's part of UCX's own takes for one operation, there and back if the row's is;
/// `used_ns` receives the processor time. False, and `trouble` is what failed.
bool time_bare_ucx(const Plan& plan, const Row& row, double& ns, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
