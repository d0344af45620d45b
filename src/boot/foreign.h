#pragma once
// Joining the job of a launcher that is not ours: mpirun, mpiexec, srun.
//
// The launcher's process manager (process_manager.h) says who we are, and carries a few words
// between the processes, once: on which host each is, and where the guardians are. The first rank
// of a host starts the guardian there, which adopts the ranks as they connect; rank 0 starts the
// root, where there are several hosts. From then on all is as under gexrun, but that ranks are the
// launcher's children: it starts them, reads their output, and knows their status.
//
// Guardian and root are forks of a rank in process groups of their own, which keep of the rank's
// descriptors standard error only, and end when the ranks have. The guardian is watched by its
// parent (Guardian::serve_watched).

#include "boot/process_manager.h"
#include "boot/protocol.h"

namespace gex::boot {

/// Collective over the launcher's job. The membership's control socket is connected to the guardian
/// of this host. Ends the process with one line when that cannot be.
Membership join_foreign(ProcessManager& manager);

}  // namespace gex::boot
