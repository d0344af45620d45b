#pragma once
// The limit of rows over libfabric: fi_pingpong, the ping-pong that comes with it, over the same
// provider and the same two processors.

#include <string>

#include "measure.h"

namespace gexperf {

/// Why rows over libfabric cannot be measured here; empty: they can.
std::string why_no_pingpong();

/// How long messages of so many bytes take one way, as fi_pingpong finds it; `used_ns` receives the
/// processor time. False, and `trouble` says what failed.
bool time_pingpong(const Plan& plan, std::size_t bytes, double& ns, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
