#pragma once
// The decisions that are taken once for a job, on however many hosts it runs: have all ranks left,
// is a rank waiting for one that has exited, is the time limit reached, and who ends the job with
// what status.
//
//   one host         the guardian owns a JobCoordinator and implements Guardians
//   several hosts    gexrun owns the JobCoordinator (launch/hosts/root.h) and forwards its calls of
//   Guardians to
//                    all guardians; each guardian forwards its calls of Coordinator to gexrun by an
//                    Uplink
//
// Thread rules: one thread.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "job/job_page.h"
#include "launch/channel.h"
#include "launch/event_loop.h"
#include "launch/hang/hang_watch.h"
#include "launch/launch_spec.h"

namespace gex::launch {

/// The exit status of a job whose time limit is reached.
inline constexpr int status_of_time_out = 124;

/// Guardians report these to the coordinator of their job.
class Coordinator {
 public:
  virtual ~Coordinator() = default;

  /// A process has joined the job as `rank`.
  virtual void joined(std::uint32_t rank, pid_t process) = 0;
  /// All ranks of the guardian's host have contributed to the exchange; `bytes` is what has come of
  /// it among them.
  virtual void contribute(std::uint32_t sequence, job::Exchange kind, SharedBytes bytes) = 0;
  /// `rank` has left before exchange number `sequence`. A departure that ends the job does so once
  /// all ranks have left, or after a grace period. A rank that has left by exit(0) may report such
  /// a departure later.
  virtual void left(std::uint32_t rank, std::uint32_t sequence,
                    const job::Departure& departure) = 0;
  /// The process that was started as `rank` has ended.
  virtual void gone(std::uint32_t rank, pid_t process) = 0;
  /// Some rank is waiting in a collective call for `peer`, which has left the job.
  virtual void report_exited_peer(std::uint32_t peer) = 0;
  /// A rank of the guardian's host, or the guardian, ends the job. `text`, if not empty, is the
  /// message to the user; it is printed unless the job is ending already.
  virtual void end(const job::Ending& ending, const std::string& text) = 0;
  /// A rank of the guardian's host asks for permission to report an error.
  virtual void request_error_report() = 0;
  /// The guardian itself received a signal that ends the job.
  virtual void interrupted(int signal) = 0;
  /// Reports what the guardian has seen of its ranks' progress, if it was asked to observe.
  virtual void observed(const Observation& observation) = 0;
  /// Answers `collect` with what its ranks show (hang/rank_report.h).
  virtual void collected(std::uint32_t number, SharedBytes reports) = 0;
  /// No process of the job is left on the guardian's host. `lost_output`: some output of the ranks
  /// could not be written.
  virtual void finished(bool lost_output) = 0;
};

/// How much time the ranks get to exit once the job ends.
enum class Teardown : std::uint32_t {
  graceful,   ///< SIGTERM only after a grace period
  timed_out,  ///< the time limit is reached: SIGTERM without a grace period
  immediate,  ///< a host is lost: SIGKILL within a second
};

/// The coordinator gives all guardians of the job these orders.
class Guardians {
 public:
  virtual ~Guardians() = default;

  /// The result of an exchange among all ranks.
  virtual void gathered(std::uint32_t sequence, SharedBytes bytes) = 0;
  /// `rank` has left before exchange number `sequence`, which can therefore never complete.
  virtual void absent(std::uint32_t rank, std::uint32_t sequence) = 0;
  /// Every rank has left with 0; they may exit now. `finalize`: every rank in which MPI is
  /// initialized can finalize it, and does, since that is collective.
  virtual void release(bool finalize) = 0;
  /// The job ends.
  virtual void end(const job::Ending& ending, Teardown teardown) = 0;
  /// Forward this signal to the ranks. SIGINT, SIGTERM and SIGHUP end the job.
  virtual void signal(int number) = 0;
  /// Report in this interval whether there was progress.
  virtual void observe(std::uint32_t interval_ms) = 0;
  /// Send what the ranks show, with this number.
  virtual void collect(std::uint32_t number, Collection what) = 0;
};

class JobCoordinator final : public Coordinator, public Timed {
 public:
  /// The source of the present time, which tests replace by one that they move.
  using Now = Clock::time_point (*)() noexcept;
  JobCoordinator(const Launch& launch, Guardians& guardians, Now now = Clock::now);

  void joined(std::uint32_t rank, pid_t process) override;
  /// Used with one host, whose ranks' contributions are those of all ranks.
  void contribute(std::uint32_t sequence, job::Exchange kind, SharedBytes bytes) override;
  void left(std::uint32_t rank, std::uint32_t sequence, const job::Departure& departure) override;
  void gone(std::uint32_t rank, pid_t process) override;
  void report_exited_peer(std::uint32_t peer) override;
  void end(const job::Ending& ending, const std::string& text) override;
  /// Not used: with one host the job page decides, with several gexrun answers itself
  /// (launch/hosts/root.cc).
  void request_error_report() override {}
  void interrupted(int signal) override;
  /// Used with one host, as `contribute`.
  void observed(const Observation& observation) override {
    hangs_.observed(std::array{std::uint32_t{0}}, observation);
  }
  void collected(std::uint32_t number, SharedBytes reports) override;
  void finished(bool lost_output) override { lost_output_ = lost_output_ || lost_output; }

  /// Watches for hangs from now on, if it is to.
  void watch() { hangs_.start(); }
  /// For reports on request, and for what hosts observe.
  HangWatch& hangs() noexcept { return hangs_; }

  /// Ends the job because a host is lost; `text` is the message to the user.
  void end_for_lost_host(const std::string& text);

  /// "rank 3 (host node7, pid 4711)".
  std::string name_of(std::uint32_t rank) const;

  Deadline next_deadline() const override;
  void meet_deadlines() override;

  bool ending() const noexcept { return ending_; }
  /// The process that has joined as `rank`, on that rank's host; 0: none has.
  pid_t process_of(std::uint32_t rank) const { return ranks_[rank].process; }
  bool all_gone() const noexcept { return gone_count_ == ranks_.size(); }
  /// The job was interrupted, timed out or lost a host: its output is not waited for.
  bool urgent() const noexcept { return urgent_; }
  /// The launcher's exit status, once all guardians have finished.
  int status() const noexcept;

 private:
  struct Rank {
    pid_t process = 0;
    bool joined = false;
    bool left = false;
    bool ends = false;  ///< has left by a departure that ends the job
    bool gone = false;
  };

  void end(const job::Ending& ending, const std::string& text, Teardown teardown);
  void never_joined(std::uint32_t rank);
  void begin_grace(std::uint32_t rank, const job::Departure& departure);
  void all_left();
  void end_grace();
  /// The line for that end of the job; empty: nothing to report.
  std::string describe_grace_end() const;
  std::string waiting_ranks() const;
  /// Ends the job with the message "EXITED TEXT WAITERS".
  void fail_wait_on_exited_rank(std::uint32_t exited, const char* text, const std::string& waiters);
  void handle_time_limit();
  void handle_exit_timeout();
  void handle_hang(Hang hang, double seconds, const HangReport& report);
  void show_progress();
  template <typename Condition>
  std::string ranks_where(Condition condition) const;

  const Launch& launch_;
  Guardians& guardians_;
  Now now_;
  std::vector<Rank> ranks_;
  std::uint32_t joined_count_ = 0;
  std::uint32_t left_count_ = 0;
  std::uint32_t gone_count_ = 0;
  bool ending_ = false;
  bool urgent_ = false;
  bool lost_output_ = false;
  bool progress_shown_ = false;
  int code_ = 0;
  int interrupted_by_ = 0;
  Clock::time_point interrupted_at_;
  Deadline exit_deadline_;
  bool stays_open_ = false;  ///< some rank has left that cannot finalize (job/finalizer.h)

  /// The first departure that ends the job; the first with a code other than 0 replaces one with 0.
  struct EndingExit {
    std::uint32_t rank = 0;
    job::Departure departure;
  };
  EndingExit ending_exit_;
  Deadline grace_over_at_;
  Deadline time_limit_at_;
  Deadline progress_at_;
  HangWatch hangs_;
};

}  // namespace gex::launch
