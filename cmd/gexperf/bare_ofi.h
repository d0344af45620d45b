#pragma once
// The limits of rows over libfabric: libfabric itself, without libgex, over the same provider and
// the same two processors. There and back it is fi_pingpong, which comes with libfabric; for
// bandwidth, which a window of writes raises above that of fi_pingpong, bare/fi_flood.cc.

#include <string>

#include "measure.h"

namespace gexperf {

/// Why rows over libfabric cannot be measured here; empty: they can.
std::string why_no_bare_ofi(const Plan& plan);

/// Part of `time_bare`: the microseconds of one message or write, one way.
bool time_bare_ofi(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
