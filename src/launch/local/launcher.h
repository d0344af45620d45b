#pragma once
// Starting a job on this host.
//
//   launcher          gexrun, or the process that called gex_Client_Init with GASNET_PSHM_NODES
//   `- guardian       without the terminal; parent of all ranks, ends them
//      |- rank 0      in the launcher's process group if its input is the terminal
//      |- ...         each in a process group of its own
//      `- rank N-1
//
// The launcher forwards signals to the guardian over a pipe, and waits for it; the guardian exits
// with the job's status. When the launcher dies, the pipe is closed and the guardian ends the job.
// When the guardian dies, the kernel kills the ranks (PR_SET_PDEATHSIG); the launcher becomes the
// parent of the processes that they leave behind, and kills those.

#include "job/protocol.h"
#include "launch/launch_spec.h"

namespace gex::launch {

/// Starts the job. Does not return in the calling process, which exits with the job's status. With
/// an empty `command` it returns in each rank, with the rank's membership and with the caller's
/// signal mask, disposition of SIGCHLD, limits and process name.
job::Membership launch(const Launch& launch);

}  // namespace gex::launch
