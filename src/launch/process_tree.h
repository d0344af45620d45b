#pragma once
// Ending the descendants of this process.
//
// The guardian and the launcher are child subreapers: a descendant whose parent has died becomes
// their child. Killing all children repeatedly until none is left therefore ends the whole tree,
// and nothing outside it.

#include <sys/types.h>

#include <functional>
#include <vector>

namespace gex::launch {

/// Called with the process id and wait status of each reaped process.
using Reaped = std::function<void(pid_t, int)>;

/// Kills and reaps all descendants, except the children in `spared`. Blocks until none is left;
/// only a process that hangs in a device driver survives SIGKILL.
void kill_descendants(const std::vector<pid_t>& spared, const Reaped& reaped);

}  // namespace gex::launch
