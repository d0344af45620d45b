#include "boot/coordinator.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "boot/process_tree.h"
#include "boot/rank_set.h"

namespace gex::boot {

namespace {

constexpr int status_of_time_out = 124;

/// Seconds that the others have at least to come to their own end after a rank has called
/// gasnet_exit(0): programs end with a barrier and that call, and who is the first out of the
/// barrier must not cut off what the others still print, nor hide that one of them fails.
constexpr double success_grace = 3;

/// What is sent to a whole session or control group is heard by each process of ours in it.
constexpr std::chrono::milliseconds one_interrupt{200};

/// A job that starts faster than this needs no line that says how far it is.
constexpr double progress_after = 1.0;
constexpr double progress_interval = 0.25;

std::string format_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

}  // namespace

JobCoordinator::JobCoordinator(const Launch& launch, Guardians& guardians)
    : launch_(launch), guardians_(guardians), ranks_(launch.hosts.ranks()) {
  if (launch_.time_limit) time_limit_at_ = after(*launch_.time_limit);
  if (isatty(STDERR_FILENO) != 0) progress_at_ = after(progress_after);
}

template <typename Condition>
std::string JobCoordinator::ranks_where(Condition condition) const {
  RankSet found;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (condition(ranks_[rank])) found.add(rank);
  }
  return describe_ranks(found);
}

std::string JobCoordinator::name_of(std::uint32_t rank) const {
  return rank_name(rank, launch_.hosts.of(rank).name, ranks_[rank].process);
}

void JobCoordinator::joined(std::uint32_t rank, pid_t process) {
  Rank& self = ranks_[rank];
  if (self.joined) return;
  self.process = process;
  self.joined = true;
  ++joined_count_;
  if (joined_count_ == ranks_.size()) show_progress();
  for (std::uint32_t other = 0; gone_count_ > 0 && other < ranks_.size(); ++other) {
    if (ranks_[other].gone && !ranks_[other].joined) never_joined(other);
  }
}

void JobCoordinator::contribute(std::uint32_t sequence, SharedBytes bytes) {
  guardians_.gathered(sequence, std::move(bytes));
}

void JobCoordinator::left(std::uint32_t rank, std::uint32_t sequence, const Departure& departure) {
  Rank& self = ranks_[rank];
  if (self.ends || (self.left && !departure.ends_job())) return;
  const bool new_absence = !self.left && left_count_ == 0;
  if (!self.left) ++left_count_;
  self.left = true;
  self.ends = departure.ends_job();
  mpi_kept_ = mpi_kept_ || departure.keeps_mpi;
  if (self.ends) {
    begin_grace(rank, departure);
  } else if (!leave_at_ && launch_.exit_timeout > 0) {
    leave_at_ = after(launch_.exit_timeout);
  }
  if (left_count_ == ranks_.size()) {
    all_left();
  } else if (new_absence) {
    // An exchange that one rank has left before cannot come about, so all leave before the same.
    guardians_.absent(rank, sequence);
  }
}

/// The others may come to their own end, as they do where all have found the same reason for it and
/// one of them prints it.
void JobCoordinator::begin_grace(std::uint32_t rank, const Departure& departure) {
  const bool fails = departure.code != 0;
  if (grace_over_at_ && (!fails || leaver_.departure.code != 0)) return;
  leaver_ = {rank, departure};
  const double grace = fails ? launch_.exit_grace : std::max(launch_.exit_grace, success_grace);
  grace_over_at_ = earlier(grace_over_at_, after(grace));
}

void JobCoordinator::all_left() {
  leave_at_.reset();
  if (grace_over_at_ && leaver_.departure.code != 0) {
    end_grace();
  } else {
    grace_over_at_.reset();
    guardians_.farewell(/*finalize_mpi=*/!mpi_kept_);
  }
}

/// All have left, or those that have not come to their end until now are ended.
void JobCoordinator::end_grace() {
  const auto& [rank, departure] = leaver_;
  std::string text;
  // Exits after an interrupt are expected.
  if (interrupted_by_ != 0) {
  } else if (departure.by_exit) {
    const std::string code = std::to_string(departure.code);
    text = name_of(rank) + " returned " + code + " from main or called exit(" + code + ")";
  } else if (departure.code == 0 && left_count_ < ranks_.size()) {
    // The job's status is that of a success, and output may be missing.
    text = name_of(rank) + " called gasnet_exit(0); " +
           ranks_where([](const Rank& other) { return !other.left; }) + " had not exited " +
           format_seconds(std::max(launch_.exit_grace, success_grace)) +
           " s later, and the job is ended (GEX_EXIT_GRACE)";
  }
  end({departure.code, rank}, text);
}

void JobCoordinator::gone(std::uint32_t rank, pid_t process) {
  Rank& self = ranks_[rank];
  if (self.gone) return;
  if (self.process == 0) self.process = process;
  self.gone = true;
  ++gone_count_;
  if (!self.joined && joined_count_ > 0) never_joined(rank);
}

void JobCoordinator::never_joined(std::uint32_t rank) {
  fail_in_vain(rank, "ended with status 0 and never joined the job of",
               ranks_where([](const Rank& other) { return other.joined; }));
}

std::string JobCoordinator::waiting_ranks() const {
  return ranks_where([](const Rank& other) { return other.joined && !other.left; });
}

void JobCoordinator::waits_in_vain(std::uint32_t absent) {
  // Who waits may know it before its word has come here, and says so again.
  if (!ranks_[absent].left) return;
  // A failure's grace is short, and some rank that does not wait may have its reason to print.
  if (grace_over_at_ && leaver_.departure.code != 0) return;
  if (ranks_[absent].ends) {
    end({0, absent}, interrupted_by_ != 0
                         ? std::string()
                         : name_of(absent) + " called gasnet_exit(0) while a collective call " +
                               "waits for it in " + waiting_ranks() + "; the job is ended");
    return;
  }
  fail_in_vain(absent,
               "returned from main or called exit(0) while a collective call waits for it in",
               waiting_ranks());
}

void JobCoordinator::fail_in_vain(std::uint32_t absent, const char* text,
                                  const std::string& waiters) {
  // After an interrupt it is no news that a rank has gone.
  if (interrupted_by_ != 0) {
    end({128 + interrupted_by_, absent}, {});
  } else {
    end({1, absent}, name_of(absent) + ' ' + text + ' ' + waiters);
  }
}

void JobCoordinator::end(const Ending& ending, const std::string& text) {
  end(ending, text, Haste::none);
}

void JobCoordinator::end(const Ending& ending, const std::string& text, Haste haste) {
  if (ending_) return;
  ending_ = true;
  hurried_ = hurried_ || haste != Haste::none;
  code_ = ending.code;
  leave_at_.reset();
  grace_over_at_.reset();
  time_limit_at_.reset();
  show_progress();
  if (!text.empty()) report(launch_.program_name, "%s", text.c_str());
  if (launch_.verbose) report(launch_.program_name, "ending the job with status %d", code_);
  guardians_.end(ending, haste);
}

void JobCoordinator::lose(const std::string& text) {
  end({.code = 1}, text, Haste::at_once);
}

void JobCoordinator::interrupted(int signal) {
  if (signal == interrupted_by_ && Clock::now() - interrupted_at_ < one_interrupt) return;
  hurried_ = true;
  if (interrupted_by_ == 0) {
    interrupted_by_ = signal;
    interrupted_at_ = Clock::now();
    report(launch_.program_name, "ended by %s", describe_signal(signal).c_str());
  } else {
    // Whoever asks twice does not want to wait.
    end({.code = 128 + interrupted_by_}, {});
  }
  guardians_.signal(signal);
}

Deadline JobCoordinator::next_deadline() const noexcept {
  return earlier(earlier(leave_at_, grace_over_at_), earlier(time_limit_at_, progress_at_));
}

void JobCoordinator::meet_deadlines() {
  if (met(time_limit_at_)) time_out();
  if (met(grace_over_at_)) end_grace();
  if (met(leave_at_)) leave_time_out();
  if (met(progress_at_)) show_progress();
}

void JobCoordinator::time_out() {
  if (all_gone()) {
    end({.code = status_of_time_out},
        "timed out after " + format_seconds(*launch_.time_limit) +
            " s; not all that was printed could be written",
        Haste::timely);
    return;
  }
  const std::string who =
      left_count_ == ranks_.size()
          ? ranks_where([](const Rank& rank) { return !rank.gone; })
          : ranks_where([](const Rank& rank) { return !rank.gone && !rank.left; });
  end({.code = status_of_time_out},
      "timed out after " + format_seconds(*launch_.time_limit) + " s; " + who + " had not finished",
      Haste::timely);
}

void JobCoordinator::leave_time_out() {
  const std::string left = ranks_where([](const Rank& rank) { return rank.left; });
  const std::string stay = ranks_where([](const Rank& rank) { return !rank.left; });
  end({.code = 1}, left + " returned from main or called exit(0), " + stay + " did not within " +
                       format_seconds(launch_.exit_timeout) + " s (GEX_EXIT_TIMEOUT)");
}

/// One line that is written over and over while ranks join, and gone once all have.
void JobCoordinator::show_progress() {
  const bool done = ending_ || joined_count_ == ranks_.size();
  progress_at_.reset();
  if (done) {
    if (progress_shown_) tell_reader("\r\033[K");
    progress_shown_ = false;
    return;
  }
  progress_at_ = after(progress_interval);
  // A program that is none of libgex's never joins, and has nothing to be waited for.
  if (joined_count_ == 0) return;
  progress_shown_ = true;
  tell_reader('\r' + std::string(launch_.program_name) + ": " + std::to_string(joined_count_) +
              " of " + std::to_string(ranks_.size()) + " ranks have joined");
}

int JobCoordinator::status() const noexcept {
  if (interrupted_by_ != 0) return 128 + interrupted_by_;
  return code_ == 0 && lost_output_ ? 1 : code_;
}

}  // namespace gex::boot
