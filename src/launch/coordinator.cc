#include "launch/coordinator.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "base/assert.h"
#include "base/os_file.h"
#include "job/rank_set.h"
#include "launch/hang/report_file.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// Minimum seconds in which the other ranks may exit after a rank has called gasnet_exit(0).
/// Programs end with a barrier and that call; the first rank out of the barrier must not truncate
/// the output of the others, nor hide that one of them fails.
constexpr double success_grace = 3;

/// A signal to a whole session or control group reaches several processes of the job. Copies within
/// this time count as one.
constexpr std::chrono::milliseconds interrupt_burst{200};

/// Seconds after which a start-up that is still in progress shows how many ranks have joined.
constexpr double progress_after = 1.0;
constexpr double progress_interval = 0.25;

std::string format_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

}  // namespace

JobCoordinator::JobCoordinator(const Launch& launch, Guardians& guardians, Now now)
    : launch_(launch),
      guardians_(guardians),
      now_(now),
      ranks_(launch.hosts.ranks()),
      hangs_(launch.hang.after_s, launch.hosts.size(), launch.hosts.ranks(),
             {[this](std::uint32_t interval_ms) { guardians_.observe(interval_ms); },
              [this](std::uint32_t number, Collection what) { guardians_.collect(number, what); },
              [this](Hang hang, double seconds, const HangReport& report) {
                handle_hang(hang, seconds, report);
              }},
             now) {
  if (launch_.time_limit) time_limit_at_ = after(*launch_.time_limit, now_());
  if (isatty(STDERR_FILENO) != 0) progress_at_ = after(progress_after, now_());
}

template <typename Condition>
std::string JobCoordinator::ranks_where(Condition condition) const {
  job::RankSet found;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (condition(ranks_[rank])) found.add(rank);
  }
  return job::describe_ranks(found);
}

std::string JobCoordinator::name_of(std::uint32_t rank) const {
  return job::rank_name(rank, launch_.hosts.of(rank).name, ranks_[rank].process);
}

void JobCoordinator::joined(std::uint32_t rank, pid_t process) {
  Rank& self = ranks_[rank];
  if (self.joined) return;
  self.process = process;
  self.joined = true;
  ++joined_count_;
  GEX_ASSERT(joined_count_ <= ranks_.size());
  if (joined_count_ == ranks_.size()) show_progress();
  for (std::uint32_t other = 0; gone_count_ > 0 && other < ranks_.size(); ++other) {
    if (ranks_[other].gone && !ranks_[other].joined) never_joined(other);
  }
}

void JobCoordinator::contribute(std::uint32_t sequence, job::Exchange, SharedBytes bytes) {
  guardians_.gathered(sequence, std::move(bytes));
}

void JobCoordinator::left(std::uint32_t rank, std::uint32_t sequence,
                          const job::Departure& departure) {
  Rank& self = ranks_[rank];
  if (self.ends || (self.left && !departure.ends_job())) return;
  const bool new_absence = !self.left && left_count_ == 0;
  if (!self.left) ++left_count_;
  GEX_ASSERT(left_count_ <= ranks_.size());
  self.left = true;
  self.ends = departure.ends_job();
  stays_open_ = stays_open_ || departure.stays_open;
  if (self.ends) {
    begin_grace(rank, departure);
  } else if (!exit_deadline_ && launch_.exit_timeout > 0) {
    exit_deadline_ = after(launch_.exit_timeout, now_());
  }
  if (left_count_ == ranks_.size()) {
    all_left();
  } else if (new_absence) {
    // No exchange completes after the first rank has left, so the first sequence number suffices.
    guardians_.absent(rank, sequence);
  }
}

/// Starts the time in which the other ranks may exit by themselves. They do if all of them have
/// found the same error, which one of them prints.
void JobCoordinator::begin_grace(std::uint32_t rank, const job::Departure& departure) {
  const bool fails = departure.code != 0;
  if (grace_over_at_ && (!fails || ending_exit_.departure.code != 0)) return;
  ending_exit_ = {rank, departure};
  const double grace = fails ? launch_.exit_grace : std::max(launch_.exit_grace, success_grace);
  grace_over_at_ = earlier(grace_over_at_, after(grace, now_()));
}

void JobCoordinator::all_left() {
  exit_deadline_.reset();
  if (grace_over_at_ && ending_exit_.departure.code != 0) {
    end_grace();
  } else {
    grace_over_at_.reset();
    guardians_.release(/*finalize=*/!stays_open_);
  }
}

/// Ends the job: all ranks have left, or the grace period of the others is over.
void JobCoordinator::end_grace() {
  end({ending_exit_.departure.code, ending_exit_.rank}, describe_grace_end());
}

std::string JobCoordinator::describe_grace_end() const {
  const auto& [rank, departure] = ending_exit_;
  // Exits after an interrupt are expected.
  if (interrupted_by_ != 0) return {};
  if (departure.by_exit) {
    const std::string code = std::to_string(departure.code);
    return name_of(rank) + " returned " + code + " from main or called exit(" + code + ")";
  }
  if (departure.code != 0 || left_count_ == ranks_.size()) return {};
  // The job's status is 0 and output may be missing: report why.
  return name_of(rank) + " called gasnet_exit(0); " +
         ranks_where([](const Rank& other) { return !other.left; }) + " had not exited " +
         format_seconds(std::max(launch_.exit_grace, success_grace)) +
         " s later, and the job is ended (GEX_EXIT_GRACE)";
}

void JobCoordinator::gone(std::uint32_t rank, pid_t process) {
  Rank& self = ranks_[rank];
  if (self.gone) return;
  if (self.process == 0) self.process = process;
  self.gone = true;
  ++gone_count_;
  GEX_ASSERT(gone_count_ <= ranks_.size());
  if (!self.joined && joined_count_ > 0) never_joined(rank);
}

void JobCoordinator::never_joined(std::uint32_t rank) {
  fail_wait_on_exited_rank(rank, "ended with status 0 and never joined the job of",
                           ranks_where([](const Rank& other) { return other.joined; }));
}

std::string JobCoordinator::waiting_ranks() const {
  return ranks_where([](const Rank& other) { return other.joined && !other.left; });
}

void JobCoordinator::report_exited_peer(std::uint32_t peer) {
  // The report can overtake the peer's own departure. The waiting rank repeats it.
  if (!ranks_[peer].left) return;
  // A failing rank has a short grace, in which other ranks may print the reason of the failure.
  if (grace_over_at_ && ending_exit_.departure.code != 0) return;
  if (ranks_[peer].ends) {
    end({0, peer}, interrupted_by_ != 0
                       ? std::string()
                       : name_of(peer) + " called gasnet_exit(0) while a collective call " +
                             "waits for it in " + waiting_ranks() + "; the job is ended");
    return;
  }
  fail_wait_on_exited_rank(
      peer, "returned from main or called exit(0) while a collective call waits for it in",
      waiting_ranks());
}

void JobCoordinator::fail_wait_on_exited_rank(std::uint32_t exited, const char* text,
                                              const std::string& waiters) {
  // Exits after an interrupt are expected; they are not reported.
  if (interrupted_by_ != 0) {
    end({128 + interrupted_by_, exited}, {});
  } else {
    end({1, exited}, name_of(exited) + ' ' + text + ' ' + waiters);
  }
}

void JobCoordinator::end(const job::Ending& ending, const std::string& text) {
  end(ending, text, Teardown::graceful);
}

void JobCoordinator::end(const job::Ending& ending, const std::string& text, Teardown teardown) {
  if (ending_) return;
  ending_ = true;
  urgent_ = urgent_ || teardown != Teardown::graceful;
  code_ = ending.code;
  exit_deadline_.reset();
  grace_over_at_.reset();
  time_limit_at_.reset();
  show_progress();
  if (!text.empty()) report(launch_.program_name, "%s", text.c_str());
  if (launch_.verbose) report(launch_.program_name, "ending the job with status %d", code_);
  guardians_.end(ending, teardown);
}

void JobCoordinator::end_for_lost_host(const std::string& text) {
  end({.code = 1}, text, Teardown::immediate);
}

void JobCoordinator::interrupted(int signal) {
  if (signal == interrupted_by_ && now_() - interrupted_at_ < interrupt_burst) return;
  urgent_ = true;
  if (interrupted_by_ == 0) {
    interrupted_by_ = signal;
    interrupted_at_ = now_();
    report(launch_.program_name, "ended by %s", describe_signal(signal).c_str());
  } else {
    // A second interrupt does not wait for the ranks' handlers.
    end({.code = 128 + interrupted_by_}, {});
  }
  guardians_.signal(signal);
}

Deadline JobCoordinator::next_deadline() const {
  return earlier(
      earlier(earlier(exit_deadline_, grace_over_at_), earlier(time_limit_at_, progress_at_)),
      hangs_.next_deadline());
}

void JobCoordinator::meet_deadlines() {
  const auto now = now_();
  if (met(time_limit_at_, now)) handle_time_limit();
  if (met(grace_over_at_, now)) end_grace();
  if (met(exit_deadline_, now)) handle_exit_timeout();
  if (met(progress_at_, now)) show_progress();
  hangs_.meet_deadlines();
}

void JobCoordinator::collected(std::uint32_t number, SharedBytes reports) {
  hangs_.collected(0, number, ReportForm::ranks, *reports);
}

void JobCoordinator::handle_hang(Hang hang, double seconds, const HangReport& report) {
  if (ending_) return;
  const HangOptions& options = launch_.hang;
  const std::string time = std::to_string(static_cast<long>(seconds)) + " s";
  const std::string what =
      hang == Hang::waits
          ? "no progress for " + time + " while ranks wait:\n"
          : "polls without progress for " + time +
                ": no rank has computed or begun an operation, and nothing has arrived:\n";
  write_stderr(std::string(launch_.program_name) + ": " + what + to_text(report));
  if (!options.report_file.empty()) {
    const std::string why = write_report_file(options.report_file, report);
    if (!why.empty())
      gex::launch::report(launch_.program_name, "cannot write the report to '%s': %s",
                          options.report_file.c_str(), why.c_str());
  }
  if (options.action == HangOptions::Action::end)
    end({.code = 1}, std::string("the job makes no progress and is ended (") +
                         (launch_.command.empty() ? "GEX_HANG_ACTION=end" : "--hang-action end") +
                         ")");
}

void JobCoordinator::handle_time_limit() {
  if (all_gone()) {
    end({.code = status_of_time_out},
        "timed out after " + format_seconds(*launch_.time_limit) +
            " s; not all that was printed could be written",
        Teardown::timed_out);
    return;
  }
  const std::string who =
      left_count_ == ranks_.size()
          ? ranks_where([](const Rank& rank) { return !rank.gone; })
          : ranks_where([](const Rank& rank) { return !rank.gone && !rank.left; });
  end({.code = status_of_time_out},
      "timed out after " + format_seconds(*launch_.time_limit) + " s; " + who + " had not finished",
      Teardown::timed_out);
}

void JobCoordinator::handle_exit_timeout() {
  const std::string left = ranks_where([](const Rank& rank) { return rank.left; });
  const std::string stay = ranks_where([](const Rank& rank) { return !rank.left; });
  end({.code = 1}, left + " returned from main or called exit(0), " + stay + " did not within " +
                       format_seconds(launch_.exit_timeout) + " s (GEX_EXIT_TIMEOUT)");
}

/// A line that is rewritten while ranks join, and erased once all have joined.
void JobCoordinator::show_progress() {
  const bool done = ending_ || joined_count_ == ranks_.size();
  progress_at_.reset();
  if (done) {
    if (progress_shown_) write_stderr("\r\033[K");
    progress_shown_ = false;
    return;
  }
  progress_at_ = after(progress_interval, now_());
  // A program that does not use libgex never joins.
  if (joined_count_ == 0) return;
  progress_shown_ = true;
  write_stderr('\r' + std::string(launch_.program_name) + ": " + std::to_string(joined_count_) +
               " of " + std::to_string(ranks_.size()) + " ranks have joined");
}

int JobCoordinator::status() const noexcept {
  if (interrupted_by_ != 0) return 128 + interrupted_by_;
  return code_ == 0 && lost_output_ ? 1 : code_;
}

}  // namespace gex::launch
