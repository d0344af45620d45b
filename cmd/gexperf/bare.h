#pragma once
// The limits of rows over a network: the network's own time for as many bytes, without libgex, on
// the same two processors. Each bare_<network>.h states by what.

#include <string>

#include "measure.h"

namespace gexperf {

/// Over what a row goes, as messages call it: a network, an MPI, or CUDA.
std::string_view way_of(const Row& row);

/// Why the row cannot be measured here; empty: it can. One answer holds for all rows that go one
/// way.
std::string why_no_bare(const Plan& plan, const Row& row);

/// How long the row's `bare` takes; `used_ns` receives the processor time. False, and `trouble` is
/// what failed.
bool time_bare(const Plan& plan, const Row& row, double& ns, double& used_ns, std::string& trouble);

}  // namespace gexperf
