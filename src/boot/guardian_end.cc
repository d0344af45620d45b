// How a job ends: see guardian.h.

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "boot/guardian.h"
#include "boot/process_tree.h"
#include "boot/rank_set.h"

namespace gex::boot {

namespace {

using namespace std::chrono_literals;

constexpr auto quit_grace = 100ms;
constexpr auto terminate_grace = 1s;
// Longer than a rank's own watchdog over the flushing of its streams.
constexpr auto kill_grace = 7s;
// What a client's handler of SIGINT or SIGTERM may take to save its work.
constexpr auto interrupt_grace = 10s;

constexpr int status_of_time_out = 124;

}  // namespace

template <typename Condition>
std::string Guardian::ranks_where(Condition condition) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (condition(rank)) found.push_back(rank);
  }
  return describe_ranks(found);
}

std::string Guardian::name_of(std::uint32_t rank) const {
  const Rank& self = ranks_[rank];
  const pid_t process = self.joined_process != 0 ? self.joined_process : self.process;
  return "rank " + std::to_string(rank) + " (host " + host_ + ", pid " + std::to_string(process) +
         ")";
}

void Guardian::reap() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal != SIGCHLD) interrupt(signal);
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
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].process != process || ranks_[rank].gone) continue;
    // Its last words come first.
    hear(rank);
    ranks_[rank].gone = true;
    ranks_[rank].lost.reset();
    ++gone_count_;
    judge(rank, status);
    return;
  }
}

void Guardian::judge(std::uint32_t rank, int status) {
  Rank& self = ranks_[rank];
  // A rank may have claimed the end of the job and died before it could say so.
  if (!ending_ && page_.ending()) begin_end(page_.code(), page_.winner());
  if (ending_) return;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const bool expected = signal == interrupted_by_ || (signal == SIGPIPE && relay_.reader_gone());
    if (!expected) {
      report(launch_.program_name, "%s was killed by %s%s", name_of(rank).c_str(),
             describe_signal(signal).c_str(), WCOREDUMP(status) ? ", core dumped" : "");
    }
    begin_end(128 + signal, rank);
    return;
  }
  const int code = WEXITSTATUS(status);
  if (self.joined && !self.left) {
    report(launch_.program_name, "%s ended with status %d without leaving the job",
           name_of(rank).c_str(), code);
    begin_end(code != 0 ? code : 1, rank);
  } else if (code != 0) {
    report(launch_.program_name, "%s ended with status %d%s", name_of(rank).c_str(), code,
           self.joined ? "" : " before it had joined the job");
    begin_end(code, rank);
  } else {
    find_waits_in_vain();
  }
}

/// Ends the job when ranks wait for one that will never come.
void Guardian::find_waits_in_vain() {
  if (ending_ || joined_count_ == 0) return;
  const auto fail = [this](std::uint32_t absent, const char* text, const std::string& waiters) {
    // After an interrupt it is no news that a rank has gone.
    if (interrupted_by_ == 0) {
      report(launch_.program_name, text, name_of(absent).c_str(), waiters.c_str());
    }
    begin_end(interrupted_by_ != 0 ? 128 + interrupted_by_ : 1, absent);
  };
  std::optional<std::uint32_t> absent;
  for (std::uint32_t rank = 0; rank < ranks_.size() && !absent; ++rank) {
    const Rank& self = ranks_[rank];
    if (self.gone && !self.joined) {
      fail(rank, "%s ended with status 0 and never joined the job of %s",
           ranks_where([this](std::uint32_t other) { return ranks_[other].joined; }));
      return;
    }
    if (self.left && gather_.pending() && !gather_.has_finished(rank)) absent = rank;
  }
  if (!absent) {
    absent = sharing_.waits_for([this](std::uint32_t rank) { return ranks_[rank].left; });
  }
  if (absent) {
    fail(*absent,
         "%s returned from main or called exit(0) with a collective call still to do with %s",
         ranks_where(
             [this](std::uint32_t rank) { return ranks_[rank].joined && !ranks_[rank].left; }));
  }
}

void Guardian::fault(std::uint32_t rank, const std::string& what) {
  if (ending_) return;
  report(launch_.program_name, "%s %s", name_of(rank).c_str(), what.c_str());
  begin_end(1, rank);
}

void Guardian::begin_end(int code, std::uint32_t rank) {
  page_.claim(code, rank);
  if (ending_) return;
  ending_ = true;
  if (launch_.verbose) {
    report(launch_.program_name, "ending the job with status %d", page_.code());
  }
  leave_at_.reset();
  time_limit_at_.reset();
  FrameHeader ending;
  ending.kind = FrameKind::ending;
  ending.code = page_.code();
  for (std::uint32_t other = 0; other < ranks_.size(); ++other) {
    ranks_[other].lost.reset();
    ranks_[other].channel.queue(ending);
    flush(other);
  }
  const auto now = Clock::now();
  quit_at_ = now + quit_grace;
  terminate_at_ = now + terminate_grace;
  if (!kill_at_) kill_at_ = now + kill_grace;
}

void Guardian::interrupt(int signal) {
  if (interrupted_by_ != 0) {
    // Whoever asks twice does not want to wait.
    begin_end(128 + interrupted_by_, JobPage::by_guardian);
    kill_everything();
    abandon_output_at_ = Clock::now();
    return;
  }
  interrupted_by_ = signal;
  hurried_ = true;
  report(launch_.program_name, "ended by %s", describe_signal(signal).c_str());
  kill_at_ = Clock::now() + interrupt_grace;
  signal_ranks(signal);
}

/// Signals what a terminal would: the group of the process we started, and the program where a
/// wrapper (a debugger) runs it in a group of its own.
void Guardian::signal_rank(const Rank& rank, int signal) {
  if (rank.gone) return;
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
  if (!all_gone()) begin_end(1, JobPage::by_guardian);
  for (const Rank& rank : ranks_) {
    if (!rank.gone) kill(-rank.process, SIGKILL);
  }
  kill_descendants({}, [this](pid_t process, int status) { reaped(process, status); });
  quit_at_.reset();
  terminate_at_.reset();
  kill_at_.reset();
}

void Guardian::lose(std::uint32_t rank) {
  if (ending_ || ranks_[rank].gone || ranks_[rank].left) return;
  fault(rank, ranks_[rank].channel.open()
                  ? "has ended without leaving the job; what it was run by goes on"
                  : "has closed its connection to the job without leaving it, as by executing "
                    "another program");
}

void Guardian::time_out() {
  const auto unfinished = [this](std::uint32_t rank) {
    return !ranks_[rank].gone && !ranks_[rank].left;
  };
  hurried_ = true;
  if (all_gone()) {
    report(launch_.program_name, "timed out after %g s; not all that was printed could be written",
           *launch_.time_limit);
    page_.claim(status_of_time_out, JobPage::by_guardian);
    abandon_output_at_ = Clock::now();
    return;
  }
  std::string who = ranks_where(unfinished);
  if (left_count_ == ranks_.size()) {
    who = ranks_where([this](std::uint32_t rank) { return !ranks_[rank].gone; });
  }
  report(launch_.program_name, "timed out after %g s; %s had not finished", *launch_.time_limit,
         who.c_str());
  begin_end(status_of_time_out, JobPage::by_guardian);
  terminate_at_ = Clock::now();
}

void Guardian::leave_time_out() {
  const std::string left = ranks_where([this](std::uint32_t rank) { return ranks_[rank].left; });
  const std::string stay = ranks_where([this](std::uint32_t rank) { return !ranks_[rank].left; });
  report(launch_.program_name,
         "%s returned from main or called exit(0), %s did not within %g s (GEX_EXIT_TIMEOUT)",
         left.c_str(), stay.c_str(), launch_.exit_timeout);
  begin_end(1, JobPage::by_guardian);
}

}  // namespace gex::boot
