#include "launch/local/local_processes.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "base/os_proc.h"
#include "launch/launcher_signals.h"
#include "launch/process_tree.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

using namespace std::chrono_literals;

/// How long a wrapper may outlive a rank that has ended without leaving the job.
constexpr auto wrapper_grace = 2s;

os::FileDescriptor open_process(pid_t process) {
  return os::FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace

LocalProcesses::LocalProcesses(LocalJob& job, EventLoop& loop, const LineRelay& relay,
                               ReadLastFrames read_last_frames, AwaitLauncher await_launcher)
    : job_(job),
      loop_(loop),
      relay_(relay),
      read_last_frames_(std::move(read_last_frames)),
      await_launcher_(std::move(await_launcher)),
      processes_(job.ranks.size()) {
}

int LocalProcesses::serve() {
  constexpr int wanted[] = {SIGINT, SIGTERM, SIGHUP};
  const sigset_t handled = signals_to_handle(wanted);
  signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return errno;
  signals_watch_ = loop_.watch(signals_.get(), [this] { receive_signals(); });
  return 0;
}

void LocalProcesses::joined(std::uint32_t rank, pid_t process) {
  LocalRank& self = job_.at(rank);
  self.joined_process = process;
  if (process == self.process) return;
  Process& program = at(rank);
  program.handle = open_process(process);
  if (program.handle) {
    program.watch = loop_.watch(program.handle.get(), [this, rank] { handle_program_exit(rank); });
  }
}

int LocalProcesses::adopt(std::uint32_t rank, pid_t process) {
  LocalRank& self = job_.at(rank);
  self.process = process;
  Process& adopted = at(rank);
  adopted.handle = open_process(process);
  const int error = adopted.handle ? 0 : errno;
  // ESRCH: the process has ended, and its id may be reused.
  if (error != ESRCH && adopted_ != nullptr) adopted_->set(job_.index_of(rank), process);
  if (error != 0) {
    job_.mark_gone(self);  // its end cannot be detected
    return error;
  }
  adopted.watch = loop_.watch(adopted.handle.get(), [this, rank] { handle_adopted_exit(rank); });
  return 0;
}

void LocalProcesses::connection_closed(std::uint32_t rank) {
  at(rank).lost_at = Clock::now() + wrapper_grace;
}

void LocalProcesses::stop_watching_for_losses() {
  for (Process& process : processes_) process.lost_at.reset();
}

void LocalProcesses::receive_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number != SIGCHLD) job_.coordinator->interrupted(number);
  }
  reap();
}

void LocalProcesses::reap() {
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return;
    handle_reaped(process, status);
  }
}

void LocalProcesses::handle_reaped(pid_t process, int status) {
  for (const std::uint32_t rank : job_.part.ranks) {
    if (job_.at(rank).process != process || job_.at(rank).gone) continue;
    finish(rank);
    handle_exit_status(rank, status);
    job_.coordinator->gone(rank, process);
    return;
  }
}

/// The process of the rank has ended.
void LocalProcesses::finish(std::uint32_t rank) {
  read_last_frames_(rank);
  at(rank).lost_at.reset();
  job_.mark_gone(job_.at(rank));
}

void LocalProcesses::handle_exit_status(std::uint32_t rank, int status) {
  const LocalRank& self = job_.at(rank);
  if (job_.ending) return;
  // A rank may have claimed the end of the job and died before it could announce it.
  if (job_.page.ending()) {
    job_.request_end(job_.page.end(), {});
    return;
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (ends_job(number) && job_.interrupted_by == 0 && is_on_terminal(job_.index_of(rank)))
      await_launcher_();
    const std::string cause = number == SIGKILL ? memory_kills_.explain() : std::string();
    const bool expected =
        number == job_.interrupted_by || (number == SIGPIPE && relay_.reader_gone());
    job_.request_end({128 + number, rank, /*death=*/true},
                     expected ? ""
                              : job_.name_of(rank) + " was killed by " + describe_signal(number) +
                                    job_.moment_of(rank) +
                                    (WCOREDUMP(status) ? ", core dumped" : "") + cause);
    return;
  }
  const int code = WEXITSTATUS(status);
  const bool leaves = !self.joined || self.left;
  if (leaves && (code == 0 || code == self.left_with)) return;
  // Exits after an interrupt are expected; they are not reported.
  std::string ended;
  if (job_.interrupted_by == 0) {
    ended = job_.name_of(rank) + " ended with status " + std::to_string(code) +
            job_.moment_of(rank) + (leaves ? "" : " without leaving the job");
  }
  job_.request_end({code != 0 ? code : 1, rank, /*death=*/!leaves}, ended);
}

/// The process that has joined has ended; the wrapper that was started as the rank has not yet.
void LocalProcesses::handle_program_exit(std::uint32_t rank) {
  at(rank).watch.reset();
  if (!job_.at(rank).left && !job_.ending) at(rank).lost_at = Clock::now() + wrapper_grace;
}

void LocalProcesses::handle_adopted_exit(std::uint32_t rank) {
  at(rank).watch.reset();
  if (adopted_ != nullptr) adopted_->set(job_.index_of(rank), 0);
  finish(rank);
  if (!job_.ending && job_.page.ending()) {
    job_.request_end(job_.page.end(), {});
  } else if (!job_.ending && !job_.at(rank).left) {
    // Only the launcher, its parent, gets the exit status.
    job_.died(rank, "has died" + job_.moment_of(rank) + memory_kills_.explain());
  }
  job_.coordinator->gone(rank, job_.at(rank).process);
}

bool LocalProcesses::is_on_terminal(std::uint32_t index) const noexcept {
  return job_.launch.terminal_group != 0 && job_.part.ranks[index] == 0;
}

void LocalProcesses::signal_rank(std::uint32_t index, int number) {
  const LocalRank& rank = job_.ranks[index];
  const os::FileDescriptor& handle = processes_[index].handle;
  if (rank.gone) return;
  if (is_on_terminal(index)) {
    if (sent_by_terminal_ && number != SIGKILL) return;
    // The launcher and others of its pipeline are in the same group.
    for (const pid_t process : os::family_in_group(rank.process, job_.launch.terminal_group))
      kill(process, number);
    return;
  }
  if (!job_.adopting()) {
    kill(-rank.process, number);
    if (!handle || getpgid(rank.joined_process) == rank.process) return;
  }
  if (handle) syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0);
}

void LocalProcesses::signal_ranks(int number) {
  for (std::uint32_t i = 0; i < processes_.size(); ++i) signal_rank(i, number);
}

void LocalProcesses::quit_ranks() {
  for (const LocalRank& rank : job_.ranks) {
    if (!rank.joined || rank.end_begun || rank.gone) continue;
    if (os::catches_signal(rank.joined_process, SIGQUIT)) kill(rank.joined_process, SIGQUIT);
  }
}

void LocalProcesses::terminate_ranks() {
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (job_.ranks[i].end_begun) continue;  // it is flushing its streams, under a watchdog
    signal_rank(i, SIGTERM);
    signal_rank(i, SIGCONT);
  }
}

void LocalProcesses::kill_ranks() {
  signal_ranks(SIGKILL);
  if (job_.adopting()) return;
  kill_descendants({}, [this](pid_t process, int status) { handle_reaped(process, status); });
}

Deadline LocalProcesses::next_deadline() const {
  Deadline next;
  for (const Process& process : processes_) next = earlier(next, process.lost_at);
  return next;
}

void LocalProcesses::meet_deadlines() {
  for (std::uint32_t i = 0; i < processes_.size(); ++i) {
    if (met(processes_[i].lost_at)) fail_lost_rank(job_.part.ranks[i]);
  }
}

void LocalProcesses::fail_lost_rank(std::uint32_t rank) {
  const LocalRank& self = job_.at(rank);
  if (job_.ending || self.gone || self.left) return;
  if (self.connected) {
    job_.died(rank, "has ended" + job_.moment_of(rank) +
                        " without leaving the job; the program that started it is still running");
  } else {
    job_.fault(rank,
               "has closed its connection to the job without leaving it, as by executing another "
               "program");
  }
}

}  // namespace gex::launch
