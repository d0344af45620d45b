#pragma once
// The rows over mpi: how their ranks are started, and their limits, which are messages of the same
// MPI's on the same two processors (bare/mpi_bare.cc).

#include <string>
#include <vector>

#include "measure.h"

namespace gexperf {

/// Returns true if gexrun does not start the ranks of a row: processes of Open MPI need its mpirun.
bool needs_mpirun(const Row& row);

/// The words by which a row's own launcher starts a worker, with its arguments, as two ranks. Each
/// rank has a processor.
std::vector<std::string> start_by_mpirun(const Plan& plan, const Row& row,
                                         const std::vector<std::string>& worker);

/// Why the rows over this MPI cannot be measured; empty: they can.
std::string why_no_bare_mpi(const Plan& plan, std::string_view mpi);

/// Part of `time_bare`: the microseconds of one message or write, one way.
bool time_bare_mpi(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble);

}  // namespace gexperf
