#pragma once
// The limits of rows over ucx: UCX itself, without libgex, over the same transports and on the same
// two processors, as `ucx_perftest`, which comes with it, finds them.

#include <string>

#include "measure.h"

namespace gexperf {

/// Why rows over ucx cannot be measured here; empty: they can.
std::string why_no_bare_ucx();

/// Part of `time_bare`: the microseconds of one message or write, one way.
bool time_bare_ucx(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
