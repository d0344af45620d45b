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

#include <signal.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "boot/binding.h"
#include "boot/host_parts.h"
#include "boot/protocol.h"

namespace gex::boot {

/// What is to be started, and how.
struct Launch {
  const char* program_name = "gex";  ///< who speaks in messages
  HostParts hosts;                   ///< of the whole job
  std::uint32_t host = 0;            ///< the one among them that this process is to start ranks on
  std::vector<std::string> command;  ///< empty: the ranks are forks of the calling process
  bool tag_output = false;           ///< begin each line with "[rank] "
  Bind bind = Bind::none;            ///< what ranks are bound to
  bool verbose = false;
  std::optional<double> time_limit;  ///< seconds until the job is ended with status 124
  double exit_timeout = 0;           ///< seconds a rank waits at its end for others; 0: for ever
  double exit_grace = 0;  ///< seconds from a rank's gasnet_exit to the end of those still at work
  /// The connection to the root of a job of several hosts; -1: this host is all of the job.
  int root = -1;
  /// Where the ranks of this host, which somebody else has started, connect; -1: they are started
  /// here.
  int adopts = -1;
  int launcher = 0;  ///< the process that has started those; 0: unknown
  /// Seconds within which those connect. They do as soon as they have heard where, which they all
  /// hear at once.
  double join_limit = 30;

  const HostPart& part() const { return hosts[host]; }
};

/// Starts the job. In the calling process this never returns: it ends with the job's status. With
/// an empty `command` it returns in each rank, as whom the answer says, with signal mask, what
/// becomes of SIGCHLD, limits and process name as the caller's were.
Membership launch(const Launch& launch);

/// How a process took signals before the launcher's part in it began.
struct SignalState {
  sigset_t mask{};
  struct sigaction children {};  ///< for SIGCHLD
};

/// Blocks all signals, and sees to it that children which have ended wait to be reaped: where
/// SIGCHLD is ignored, which programs inherit, the kernel keeps nothing of them and tells nobody.
SignalState take_over_signals() noexcept;

void restore_signals(const SignalState& before) noexcept;

/// Whether a signal to the launcher is a wish that the job end.
bool ends_job(int signal) noexcept;

/// Signals that a launcher passes on to the ranks.
inline constexpr int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                    SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

/// SIGCHLD, and those of `wanted` that this process was not started to ignore, as nohup does.
/// SIGINT is heard all the same: shells start what a script has in the background so, for which
/// nobody means that a job cannot be interrupted.
sigset_t signals_to_hear(std::span<const int> wanted) noexcept;

/// Makes sure that descriptors 0, 1 and 2 are open, so that no socket of ours takes their place
/// and is then written to as standard output. Writing to one that was closed fails as before.
void fill_standard_descriptors();

}  // namespace gex::boot
