#pragma once
// The limits of rows over libfabric: libfabric itself, without libgex, over the same provider and
// the same two processors. There and back it is fi_pingpong, which comes with libfabric; for
// bandwidth, which a window of writes raises above that of fi_pingpong, bare/fi_flood.cc.

#include <string>

#include "measure.h"

namespace gexperf {

/// Why rows over libfabric cannot be measured here; empty: they can.
std::string why_no_bare_ofi(const Plan& plan);

/// How long `what` takes for one message of so many bytes, one way; `used_ns` receives the
/// processor time. False, and `trouble` is what failed.
bool time_bare_ofi(const Plan& plan, BareOfi what, std::size_t bytes, double& ns, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
