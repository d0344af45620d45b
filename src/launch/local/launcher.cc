#include "launch/local/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/deadline.h"
#include "base/os_file.h"
#include "base/os_proc.h"
#include "base/os_task_limits.h"
#include "launch/coordinator.h"
#include "launch/launcher_signals.h"
#include "launch/local/guardian.h"
#include "launch/local/memory_kills.h"
#include "launch/process_tree.h"
#include "launch/report.h"
#include "launch/terminal.h"

namespace gex::launch {

namespace {

/// Seconds after the time limit or an interrupt, and between later looks, at which the launcher
/// checks whether the guardian, which is to end the job, is stopped.
constexpr double overdue_seconds = 1;

void forward(int link, const ReceivedSignal& signal) {
  const auto byte =
      static_cast<unsigned char>(signal.number | (signal.by_terminal ? terminal_bit : 0));
  while (write(link, &byte, 1) < 0 && errno == EINTR) {
  }
}

/// Stops the job and this process. Where no shell can continue them they go on; but a rank that
/// reads the terminal in the background could not.
void stop(const Launch& launch, int link, const ReceivedSignal& signal) {
  forward(link, {SIGTSTP, signal.by_terminal});
  if (stop_for(signal)) return;
  if (signal.number != SIGTSTP) {
    report(launch.program_name,
           "rank 0 uses the terminal in the background, and no shell can bring the job to the "
           "foreground (give it another input: < /dev/null)");
    forward(link, {SIGHUP, false});
  }
  forward(link, {SIGCONT, false});
}

/// Reaps all children that have ended. Returns the guardian's status if it is one of them.
std::optional<int> reap(pid_t guardian) {
  std::optional<int> found;
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return found;
    if (process == guardian) found = status;
  }
}

/// The writing end of the pipe by which `supervise` gets signals.
std::atomic<int> signal_pipe{-1};

void note_signal(int number, siginfo_t* info, void*) noexcept {
  const int saved = errno;
  const bool by_terminal = info->si_code == SI_KERNEL;
  const auto byte = static_cast<unsigned char>(number | (by_terminal ? terminal_bit : 0));
  // If the pipe is full, its reader wakes up anyway.
  if (write(signal_pipe.load(std::memory_order_relaxed), &byte, 1) < 0) errno = saved;
}

/// Installs handlers that write the signals of the set, which the caller has blocked, to a pipe.
/// Returns its reading end, or -1 and sets errno.
int open_signal_pipe(const sigset_t& handled) noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  signal_pipe.store(ends[1], std::memory_order_relaxed);
  struct sigaction noted {};
  noted.sa_sigaction = note_signal;
  noted.sa_flags = SA_RESTART | SA_SIGINFO;
  sigfillset(&noted.sa_mask);
  for (int number = 1; number < SIGRTMIN; ++number)
    if (sigismember(&handled, number) == 1) sigaction(number, &noted, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
  return ends[0];
}

/// The source of signals for `supervise`; the caller has blocked them. It is a signalfd unless the
/// program has other threads, to which the kernel would deliver a signal that they do not block;
/// the default action there would discard SIGCHLD. Handlers and a pipe serve in that case.
class SignalSource {
 public:
  explicit SignalSource(const sigset_t& handled) noexcept
      : alone_(os::other_threads() == 0),
        source_(alone_ ? signalfd(-1, &handled, SFD_CLOEXEC) : open_signal_pipe(handled)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(source_); }

  /// Waits for the next signal until the deadline.
  std::optional<ReceivedSignal> next(const Deadline& limit) const noexcept {
    for (;;) {
      pollfd readable{source_.get(), POLLIN, 0};
      if (poll(&readable, 1, milliseconds_until(limit)) == 0) return std::nullopt;
      signalfd_siginfo info;
      unsigned char byte = 0;
      if (alone_ && read(source_.get(), &info, sizeof info) == sizeof info)
        return ReceivedSignal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
      if (!alone_ && read(source_.get(), &byte, 1) == 1)
        return ReceivedSignal{byte & ~terminal_bit, (byte & terminal_bit) != 0};
    }
  }

 private:
  bool alone_;
  os::FileDescriptor source_;
};

/// Ends a job whose time is over, or which the signal ends, and whose guardian is stopped. Returns
/// its exit status. `signal` is 0 or such a signal.
int end_stopped(const Launch& launch, pid_t guardian, const std::vector<pid_t>& spared,
                int signal) {
  if (signal != 0)
    report(launch.program_name,
           "ended by %s; the guardian (pid %d) is stopped, and is killed with its ranks",
           describe_signal(signal).c_str(), guardian);
  else
    report(launch.program_name,
           "timed out after %g s; the guardian (pid %d) is stopped, and is killed with its ranks",
           *launch.time_limit, guardian);
  kill(guardian, SIGKILL);
  int status = 0;
  while (waitpid(guardian, &status, 0) < 0 && errno == EINTR) {
  }
  kill_descendants(spared, [](pid_t, int) {});
  return signal != 0 ? 128 + signal : status_of_time_out;
}

/// Forwards signals until the guardian has ended. Returns the job's exit status. All signals are
/// blocked.
int supervise(const Launch& launch, pid_t guardian, int link, const std::vector<pid_t>& spared) {
  MemoryKills memory_kills;
  const SignalSource signals(signals_to_handle(forwarded_signals));
  std::optional<int> status;
  if (!signals) {
    report(launch.program_name, "cannot wait for signals: %s", std::strerror(errno));
    int ended = 0;
    kill(guardian, SIGTERM);
    while (waitpid(guardian, &ended, 0) < 0 && errno == EINTR) {
    }
    status = ended;
  }
  // The guardian may have ended before `signals` was opened.
  if (!status) status = reap(guardian);
  // The guardian ends the job in time, unless it is stopped itself.
  Deadline overdue;
  int ended_by = 0;
  if (launch.time_limit) overdue = after(*launch.time_limit + overdue_seconds);
  while (!status) {
    const std::optional<ReceivedSignal> signal = signals.next(overdue);
    if (!signal) {
      const auto activity = os::process_activity(guardian);
      if (activity && (activity->state == 'T' || activity->state == 't'))
        return end_stopped(launch, guardian, spared, ended_by);
      overdue = after(overdue_seconds);
    } else if (signal->number == SIGCHLD) {
      status = reap(guardian);
    } else if (stops_job(signal->number)) {
      stop(launch, link, *signal);
    } else {
      forward(link, *signal);
      if (ends_job(signal->number)) {
        ended_by = signal->number;
        overdue = after(overdue_seconds);
      }
    }
  }
  if (WIFEXITED(*status)) return WEXITSTATUS(*status);
  const std::string cause = WTERMSIG(*status) == SIGKILL ? memory_kills.explain() : std::string();
  report(launch.program_name, "the guardian (pid %d) was killed by %s%s; the job is ended",
         guardian, describe_signal(WTERMSIG(*status)).c_str(), cause.c_str());
  kill_descendants(spared, [](pid_t, int) {});
  return 1;
}

}  // namespace

job::Membership launch(const Launch& wanted) {
  os::fill_standard_descriptors();
  Launch launch = wanted;
  if (launch.shares_terminal && launch.part().ranks.contains(0))
    launch.terminal_group = group_on_terminal();
  const SignalState signals = take_over_signals();
  share_within_line();
  // If the guardian is killed, processes that the ranks leave behind become this one's children.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::vector<pid_t> spared = os::children();

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    report(launch.program_name, "cannot make a pipe: %s", std::strerror(errno));
    _exit(1);
  }
  os::FileDescriptor guardian_end(ends[0]);
  fcntl(guardian_end.get(), F_SETFL, O_NONBLOCK);
  os::FileDescriptor launcher_end(ends[1]);
  const pid_t guardian = fork();
  if (guardian < 0) {
    report(launch.program_name, "cannot start the guardian process: %s",
           os::describe_task_error(errno).c_str());
    _exit(1);
  }
  if (guardian == 0) {
    launcher_end.reset();
    Guardian self(launch, std::move(guardian_end), signals);
    if (const auto membership = self.start()) return *membership;
    _exit(self.serve());
  }
  guardian_end.reset();
  // Only the guardian keeps the connection, so that it is closed when the guardian ends.
  if (launch.root >= 0) close(launch.root);
  _exit(supervise(launch, guardian, launcher_end.get(), spared));
}

}  // namespace gex::launch
