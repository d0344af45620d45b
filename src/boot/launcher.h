#pragma once
// Starting a job on this host.
//
//   launcher          gexrun, or the process that called gex_Client_Init with GASNET_PSHM_NODES
//   `- guardian       out of the terminal's reach; parent of all ranks, ends them when it must
//      |- rank 0
//      |- ...         each in a process group of its own
//      `- rank N-1
//
// The launcher holds a pipe to the guardian, over which it passes signals on, and waits for it; the
// guardian exits with the job's status. When the launcher dies, the pipe ends and the guardian ends
// the job. When the guardian dies, the kernel kills the ranks (PR_SET_PDEATHSIG), and the launcher,
// to which what they leave behind falls, ends that.

#include "boot/launch_spec.h"
#include "boot/protocol.h"

namespace gex::boot {

/// Starts the job. In the calling process this never returns: it ends with the job's status. With
/// an empty `command` it returns in each rank, as whom the answer says, with signal mask, what
/// becomes of SIGCHLD, limits and process name as the caller's were.
Membership launch(const Launch& launch);

}  // namespace gex::boot
