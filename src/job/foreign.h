#pragma once
// Joining the job of a foreign launcher: mpirun, mpiexec, srun.
//
// The launcher's process manager (process_manager.h) provides rank and size, and a key-value store,
// by which processes publish the host that each runs on and the addresses of the guardians. A rank
// reads values of its own node; the lowest of a node reads one of each node too. The first rank of
// a host starts the guardian there, which adopts the ranks as they connect; with
// several hosts rank 0 starts the root. From then on a job runs as under gexrun, except that the
// ranks are children of the launcher, which has started them, reads their output and gets their
// exit status.
//
// Guardian and root are forks of a rank in process groups of their own. Of the rank's descriptors
// they keep standard error only; they end when the ranks have ended. The guardian's parent watches
// it (Guardian::serve_watched).

#include "job/process_manager.h"
#include "job/protocol.h"

namespace gex::job {

/// Joins the launcher's job; collective over it. The control socket of the result is connected to
/// the guardian of this host. Ends the process with a message on failure.
Membership join_foreign(ProcessManager& manager);

}  // namespace gex::job
