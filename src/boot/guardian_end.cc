// The part of the guardian that ends a job: see guardian.h.

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "boot/guardian.h"
#include "boot/launcher_signals.h"
#include "boot/process_tree.h"
#include "boot/rank_set.h"

namespace gex::boot {

namespace {

using namespace std::chrono_literals;

constexpr auto quit_grace = 100ms;
constexpr auto terminate_grace = 1s;
// Longer than a rank's own watchdog over the flushing of its streams, and short enough that a job
// ends within five seconds.
constexpr auto kill_grace = 4s;
// Time for a client's handler of SIGINT or SIGTERM to save its work.
constexpr auto interrupt_grace = 10s;
// All ranks end within a second after the loss of a host was detected.
constexpr auto lost_host_grace = 800ms;
// Ranks that the launcher started together with the others join soon or not at all.
constexpr double late_join_grace = 2;

}  // namespace

/// When a rank has died, as far as known: a suffix of messages like "rank 3 was killed".
std::string Guardian::moment_of(std::uint32_t rank) const {
  if (!at(rank).joined) return " before it had joined the job";
  return page_.last_call(part_.ranks.index_of(rank))->describe();
}

std::string Guardian::name_of(std::uint32_t rank) const {
  const Rank& self = at(rank);
  return rank_name(rank, part_.name, self.joined_process != 0 ? self.joined_process : self.process);
}

void Guardian::reap() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number != SIGCHLD) coordinator().interrupted(number);
  }
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return;
    handle_reaped(process, status);
  }
}

void Guardian::handle_reaped(pid_t process, int status) {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    Rank& self = ranks_[i];
    if (self.process != process || self.gone) continue;
    const std::uint32_t rank = part_.ranks[i];
    // Frames that it sent before it ended come first.
    receive_from(rank);
    self.gone = true;
    self.lost.reset();
    ++gone_count_;
    handle_exit_status(rank, status);
    coordinator().gone(rank, process);
    return;
  }
}

void Guardian::handle_exit_status(std::uint32_t rank, int status) {
  Rank& self = at(rank);
  if (ending_) return;
  // A rank may have claimed the end of the job and died before it could announce it.
  if (page_.ending()) {
    request_end(page_.end(), {});
    return;
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const std::string cause = number == SIGKILL ? memory_kills_.explain() : std::string();
    const bool expected = number == interrupted_by_ || (number == SIGPIPE && relay_.reader_gone());
    request_end({128 + number, rank, /*death=*/true},
                expected
                    ? ""
                    : name_of(rank) + " was killed by " + describe_signal(number) +
                          moment_of(rank) + (WCOREDUMP(status) ? ", core dumped" : "") + cause);
    return;
  }
  const int code = WEXITSTATUS(status);
  const bool leaves = !self.joined || self.left;
  if (leaves && (code == 0 || code == self.left_with)) return;
  // Exits after an interrupt are expected; they are not reported.
  std::string ended;
  if (interrupted_by_ == 0) {
    ended = name_of(rank) + " ended with status " + std::to_string(code) + moment_of(rank) +
            (leaves ? "" : " without leaving the job");
  }
  request_end({code != 0 ? code : 1, rank, /*death=*/!leaves}, ended);
}

/// Reports to the coordinator a wait of this host's ranks for a rank that has left.
void Guardian::detect_waits_on_exited_ranks() {
  if (ending_) return;
  std::optional<std::uint32_t> exited =
      sharing_.waits_for([this](std::uint32_t rank) { return at(rank).left; });
  // An exchange cannot complete once a rank has left before it. Ranks that contribute to it would
  // wait for ever.
  if (absence_ && (gather_.sequence() > absence_->sequence ||
                   (gather_.sequence() == absence_->sequence && gather_.pending()))) {
    exited = absence_->rank;
  }
  if (exited) coordinator().report_exited_peer(*exited);
}

/// Ends the job for an error of a rank, or of another process on its connection.
void Guardian::fault(std::uint32_t rank, const std::string& what) {
  request_end({1, rank}, name_of(rank) + ' ' + what);
}

/// Ends the job for the death of a rank's process.
void Guardian::died(std::uint32_t rank, const std::string& how) {
  request_end({1, rank, /*death=*/true}, name_of(rank) + ' ' + how);
}

/// Claims the end of the job on this host's page, so that its ranks see it, and reports it.
void Guardian::request_end(const Ending& ending, const std::string& text) {
  if (ending_) return;
  coordinator().end(page_.claim(ending), text);
}

void Guardian::end(const Ending& asked, Teardown teardown) {
  const Ending counts = page_.claim(asked);
  if (ending_) return;
  ending_ = true;
  // Ranks that are still connecting get the `ending` frame too.
  if (join_deadline_) join_deadline_ = after(late_join_grace);
  FrameHeader ending;
  ending.kind = FrameKind::ending;
  ending.code = counts.code;
  for (const std::uint32_t other : part_.ranks) {
    at(other).lost.reset();
    at(other).channel.queue(ending);
    flush(other);
  }
  const auto now = Clock::now();
  quit_at_ = now + quit_grace;
  terminate_at_ = teardown == Teardown::graceful ? now + terminate_grace : now;
  if (!kill_at_) kill_at_ = now + kill_grace;
  if (teardown == Teardown::immediate) kill_at_ = now + lost_host_grace;
  if (teardown != Teardown::graceful) urgent_ = true;
  if (urgent_ && all_gone()) abandon_output_at_ = now;
}

void Guardian::signal(int number) {
  if (ends_job(number)) {
    interrupt(number);
  } else {
    // SIGSTOP for SIGTSTP, which some ranks may ignore while the others stop.
    signal_ranks(number == SIGTSTP ? SIGSTOP : number);
  }
}

void Guardian::interrupt(int number) {
  urgent_ = true;
  if (interrupted_by_ != 0) {
    kill_everything();
    abandon_output_at_ = Clock::now();
    return;
  }
  interrupted_by_ = number;
  kill_at_ = Clock::now() + interrupt_grace;
  signal_ranks(number);
}

/// Kills all processes of this host and exits: the launcher was killed, or the connection to the
/// root of the job is lost. `why`: the message to the user, or empty.
void Guardian::abandon(const std::string& why) {
  // While the job ends the connection may close for that reason.
  const bool reports = !why.empty() && !ending_;
  ending_ = true;
  kill_everything();
  if (reports)
    report(launch_.program_name, "%s ends its ranks: %s", part_.name.c_str(), why.c_str());
  relay_.detach();
  _exit(1);
}

/// Signals the process group of the child, as a terminal would, and also the program if a wrapper
/// (a debugger) runs it in another group.
void Guardian::signal_rank(const Rank& rank, int signal) {
  if (rank.gone) return;
  if (adopting()) {
    signal_adopted(rank, signal);
    return;
  }
  kill(-rank.process, signal);
  if (rank.joined_handle && getpgid(rank.joined_process) != rank.process) {
    syscall(SYS_pidfd_send_signal, rank.joined_handle.get(), signal, nullptr, 0);
  }
}

void Guardian::signal_ranks(int signal) {
  for (const Rank& rank : ranks_) signal_rank(rank, signal);
}

void Guardian::quit_ranks() {
  for (const Rank& rank : ranks_) {
    if (!rank.joined || rank.end_begun || rank.gone) continue;
    if (catches_signal(rank.joined_process, SIGQUIT)) kill(rank.joined_process, SIGQUIT);
  }
}

void Guardian::terminate_ranks() {
  for (const Rank& rank : ranks_) {
    if (rank.end_begun) continue;  // it is flushing its streams, under a watchdog
    signal_rank(rank, SIGTERM);
    signal_rank(rank, SIGCONT);
  }
}

void Guardian::kill_everything() {
  // Deaths from here on are expected; they are not reported.
  if (!all_gone()) request_end({.code = 1}, {});
  for (const Rank& rank : ranks_) signal_rank(rank, SIGKILL);
  if (!adopting()) {
    kill_descendants({}, [this](pid_t process, int status) { handle_reaped(process, status); });
  }
  quit_at_.reset();
  terminate_at_.reset();
  kill_at_.reset();
}

void Guardian::fail_lost_rank(std::uint32_t rank) {
  if (ending_ || at(rank).gone || at(rank).left) return;
  if (at(rank).channel.open()) {
    died(rank, "has ended" + moment_of(rank) +
                   " without leaving the job; the program that started it is still running");
  } else {
    fault(rank,
          "has closed its connection to the job without leaving it, as by executing another "
          "program");
  }
}

}  // namespace gex::boot
