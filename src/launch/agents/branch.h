#pragma once
// The launch agent of a host that starts others (launch_agents.h): gexrun --host-part there, which
// starts its own host's part as another process.
//
//   gexrun                                      the root
//   `- ssh a gexrun --host-part                 a branch
//            |- gexrun --host-part              the part of host a
//            `- ssh b gexrun --host-part        the part of host b, or a branch again
//
// The guardians of these hosts, and the branches among them, connect to the branch, which listens
// for them as the root does. It has one link to the process that has started it, on which it
// forwards their frames, and the root's frames to them. What all hosts of the branch contribute to
// an exchange is one contribution to the next; so are what they observe of progress in an interval,
// and their reports of a hang. Output comes through the branch line by line; while it cannot be
// written, nothing is read.
//
// The branch ends with the last of its hosts, and with its link; then its hosts lose theirs, and
// end their ranks.

#include "launch/agents/host_start.h"
#include "launch/hosts/auth_handshake.h"

namespace gex::launch {

/// Starts the host of `start` and those below it, and passes on their output. Returns the exit
/// status. Called once in a process, which then exits.
int run_branch(const HostStart& start, RootConnection parent);

}  // namespace gex::launch
