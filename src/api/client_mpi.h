#pragma once
// MPI that the client has in its process beside libgex, which neither needs nor links it.
// gasnet_exit finalizes it, if all ranks end with 0.

namespace gex {

/// Looks for MPI among the loaded libraries; start-up only. `forked`: this process is a fork of one
/// that may have initialized MPI; the fork does not finalize it then.
void find_client_mpi(bool forked) noexcept;

}  // namespace gex
