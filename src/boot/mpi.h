#pragma once
// MPI beside libgex in one process, which libgex neither needs nor links: what has to be known of
// it at the end. A launcher of MPI's (Open MPI's mpirun) takes a process that has initialized it
// and ends without finalizing it for failed, whatever its status.
//
// Thread rules: `find_mpi` before there are other threads; the others from any.

namespace gex::boot {

/// Looks for MPI among what the process has loaded. `forked`: the process is a fork of one that may
/// have initialized it, whose it then is.
void find_mpi(bool forked) noexcept;

/// Whether MPI is initialized in this process and not finalized.
bool mpi_is_open() noexcept;

/// Whether the calling thread is the one that may finalize it, in normal context.
bool mpi_can_be_finalized() noexcept;

/// Collective over all processes that have initialized MPI together.
void finalize_mpi() noexcept;

}  // namespace gex::boot
