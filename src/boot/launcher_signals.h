#pragma once
// Signals of the processes that start a job and look after it: taken over before there are ranks,
// and given back to these.

#include <signal.h>

#include <span>

namespace gex::boot {

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

}  // namespace gex::boot
