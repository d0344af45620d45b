#pragma once
// The launch agent of a host that starts others (launch_agents.h): gexrun --host-part there, which
// starts its own host's part as another process.
//
//   gexrun                                      the root
//   `- ssh a gexrun --host-part                 a branch
//            |- gexrun --host-part              the part of host a
//            `- ssh b gexrun --host-part        the part of host b, or a branch again
//
// The output of these hosts comes through the branch, which has a link to the root besides. The
// root reports to it which hosts are connected and which are done, and it reports which could not
// be started. It ends with the last of its hosts, and with its link.

#include "launch/agents/host_start.h"
#include "launch/hosts/auth_handshake.h"

namespace gex::launch {

/// Starts the host of `start` and those below it, and passes on their output. Returns the exit
/// status. Called once in a process, which then exits.
int run_branch(HostStart start, RootConnection root);

}  // namespace gex::launch
