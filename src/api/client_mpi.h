#pragma once
// MPI in the same process as libgex, which neither needs nor links it, and the finalization of MPI
// at the end. Open MPI's mpirun treats a process that has initialized MPI and ends without
// finalizing it as failed, whatever its exit status.
//
// Thread rules: `find_mpi` and `find_mpi_of_network` before there are other threads; the other
// functions from any thread.

namespace gex::job {

/// Looks for MPI among the loaded libraries. `forked`: this process is a fork of one that may have
/// initialized MPI; the fork does not finalize it then.
void find_mpi(bool forked) noexcept;

/// Looks again, after a network has been attached. What that has initialized is for libgex to
/// finalize.
void find_mpi_of_network() noexcept;

/// Returns true if a network has initialized MPI, and the calling thread may finalize it.
bool mpi_is_to_be_finalized() noexcept;

/// Returns true if MPI is initialized in this process and not finalized.
bool mpi_is_open() noexcept;

/// Returns true if the calling thread may finalize MPI, and is in no signal handler.
bool mpi_can_be_finalized() noexcept;

/// Finalizes MPI; collective over all processes that have initialized it together.
void finalize_mpi() noexcept;

}  // namespace gex::job
