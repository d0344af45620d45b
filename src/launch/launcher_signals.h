#pragma once
// Signals in the launcher, the guardian and the root, which block all of them before they start
// ranks, and restore them in the ranks.

#include <signal.h>

#include <span>

namespace gex::launch {

/// The signal mask and the disposition of SIGCHLD that ranks restore.
struct SignalState {
  sigset_t mask{};
  struct sigaction children {};  ///< for SIGCHLD
};

/// Blocks all signals, and resets SIGCHLD: if it is ignored, which programs inherit, the kernel
/// reaps children itself and their status is lost.
SignalState take_over_signals() noexcept;

void restore_signals(const SignalState& before) noexcept;

/// Returns true if a signal to the launcher ends the job.
bool ends_job(int signal) noexcept;

/// Signals that a launcher forwards to the ranks.
/// Time limits send SIGALRM (of an alarm set before exec), SIGXCPU and SIGABRT, which end a program
/// that does not catch them.
inline constexpr int forwarded_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                            SIGUSR2, SIGALRM, SIGXCPU, SIGABRT, SIGTSTP,
                                            SIGCONT, SIGTTIN, SIGTTOU};

/// Returns true if the signal stops a job: typed at the terminal (SIGTSTP), or a rank in the
/// background has used the terminal.
constexpr bool stops_job(int signal) noexcept {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/// A signal that a launcher has received.
struct ReceivedSignal {
  int number = 0;
  /// The terminal has sent it, to every process of the launcher's group.
  bool by_terminal = false;
};

/// In a byte between launcher and guardian that has the number of a signal: `by_terminal`.
inline constexpr int terminal_bit = 0x80;

/// Stops this process for such a signal, until it is continued. Returns false, without having
/// stopped it, if the signal comes from the terminal and no shell is there that could continue it:
/// as the kernel omits such stops in a process group that has no parent in its session.
bool stop_for(const ReceivedSignal& signal);

/// SIGCHLD, and those of `wanted` that are not ignored (as under nohup). SIGINT is always included:
/// shells ignore it for background commands of scripts, which is not meant to make a job
/// uninterruptible.
sigset_t signals_to_handle(std::span<const int> wanted) noexcept;

}  // namespace gex::launch
