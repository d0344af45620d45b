// How a job ends: see guardian.h.

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
// Longer than a rank's own watchdog over the flushing of its streams, and within five seconds all
// have ended.
constexpr auto kill_grace = 4s;
// What a client's handler of SIGINT or SIGTERM may take to save its work.
constexpr auto interrupt_grace = 10s;
// A host is lost, and within a second of that being known everything ends.
constexpr auto lost_host_grace = 800ms;
// What the launcher has started at the same time as the others comes soon or not at all.
constexpr double late_newcomers_grace = 2;

}  // namespace

/// When in its life a rank has died, as far as that is known: goes behind "was killed" and its
/// like.
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
    reaped(process, status);
  }
}

void Guardian::reaped(pid_t process, int status) {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    Rank& self = ranks_[i];
    if (self.process != process || self.gone) continue;
    const std::uint32_t rank = part_.ranks[i];
    // Its last words come first.
    hear(rank);
    self.gone = true;
    self.lost.reset();
    ++gone_count_;
    judge(rank, status);
    coordinator().gone(rank, process);
    return;
  }
}

void Guardian::judge(std::uint32_t rank, int status) {
  Rank& self = at(rank);
  if (ending_) return;
  // A rank may have claimed the end of the job and died before it could say so.
  if (page_.ending()) {
    ask_to_end(page_.end(), {});
    return;
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const std::string cause = number == SIGKILL ? memory_kills_.explain() : std::string();
    const bool expected = number == interrupted_by_ || (number == SIGPIPE && relay_.reader_gone());
    ask_to_end({128 + number, rank, /*death=*/true},
               expected ? ""
                        : name_of(rank) + " was killed by " + describe_signal(number) +
                              moment_of(rank) + (WCOREDUMP(status) ? ", core dumped" : "") + cause);
    return;
  }
  const int code = WEXITSTATUS(status);
  const bool leaves = !self.joined || self.left;
  if (leaves && (code == 0 || code == self.left_with)) return;
  // After an interrupt it is no news that a rank has gone.
  std::string ended;
  if (interrupted_by_ == 0) {
    ended = name_of(rank) + " ended with status " + std::to_string(code) + moment_of(rank) +
            (leaves ? "" : " without leaving the job");
  }
  ask_to_end({code != 0 ? code : 1, rank, /*death=*/!leaves}, ended);
}

/// Tells the coordinator when ranks of this host wait for one that will never come.
void Guardian::find_waits_in_vain() {
  if (ending_) return;
  std::optional<std::uint32_t> absent =
      sharing_.waits_for([this](std::uint32_t rank) { return at(rank).left; });
  // The exchange that the absent rank left before never comes about; to contribute to it, as some
  // ranks of this host or as all, is to wait for ever.
  if (absence_ && (gather_.sequence() > absence_->sequence ||
                   (gather_.sequence() == absence_->sequence && gather_.pending()))) {
    absent = absence_->rank;
  }
  if (absent) coordinator().waits_in_vain(*absent);
}

/// Ends the job for what a rank does, or who speaks for it.
void Guardian::fault(std::uint32_t rank, const std::string& what) {
  ask_to_end({1, rank}, name_of(rank) + ' ' + what);
}

/// Ends the job for a rank whose process is no more.
void Guardian::died(std::uint32_t rank, const std::string& how) {
  ask_to_end({1, rank, /*death=*/true}, name_of(rank) + ' ' + how);
}

/// From here on the ranks of this host see that the job ends.
void Guardian::ask_to_end(const Ending& ending, const std::string& text) {
  if (ending_) return;
  coordinator().end(page_.claim(ending), text);
}

void Guardian::end(const Ending& asked, Haste haste) {
  const Ending counts = page_.claim(asked);
  if (ending_) return;
  ending_ = true;
  // Who is on the way yet is to hear of the end too.
  if (newcomers_at_) newcomers_at_ = after(late_newcomers_grace);
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
  terminate_at_ = haste == Haste::none ? now + terminate_grace : now;
  if (!kill_at_) kill_at_ = now + kill_grace;
  if (haste == Haste::at_once) kill_at_ = now + lost_host_grace;
  if (haste != Haste::none) hurried_ = true;
  if (hurried_ && all_gone()) abandon_output_at_ = now;
}

void Guardian::signal(int number) {
  if (ends_job(number)) {
    interrupt(number);
  } else {
    // Not SIGTSTP, which some may ignore while the others stand still.
    signal_ranks(number == SIGTSTP ? SIGSTOP : number);
  }
}

void Guardian::interrupt(int number) {
  hurried_ = true;
  if (interrupted_by_ != 0) {
    kill_everything();
    abandon_output_at_ = Clock::now();
    return;
  }
  interrupted_by_ = number;
  kill_at_ = Clock::now() + interrupt_grace;
  signal_ranks(number);
}

/// Nobody is left to report to, and nothing may be left behind: the launcher was killed, or this
/// host is cut off from the root of the job. `why`: what the user is told, if anything.
void Guardian::abandon(const std::string& why) {
  // The end of the job may have been what closed the connection.
  const bool tell = !why.empty() && !ending_;
  ending_ = true;
  kill_everything();
  if (tell) report(launch_.program_name, "%s ends its ranks: %s", part_.name.c_str(), why.c_str());
  relay_.let_go();
  _exit(1);
}

/// Signals what a terminal would: the group of the process we started, and the program where a
/// wrapper (a debugger) runs it in a group of its own.
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
  // What dies from here on is no news.
  if (!all_gone()) ask_to_end({.code = 1}, {});
  for (const Rank& rank : ranks_) signal_rank(rank, SIGKILL);
  if (!adopting()) {
    kill_descendants({}, [this](pid_t process, int status) { reaped(process, status); });
  }
  quit_at_.reset();
  terminate_at_.reset();
  kill_at_.reset();
}

void Guardian::lose(std::uint32_t rank) {
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
