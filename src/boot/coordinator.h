#pragma once
// The decisions that a job takes once, however many hosts it spans: has everybody left, does
// somebody wait in vain, is the time up, who ends the job and with what status.
//
//   one host         the guardian has a JobCoordinator and is all its guardians
//   several hosts    gexrun has the JobCoordinator (root.h); each guardian has an Uplink, which is
//                    its coordinator and passes on what it is told, and gexrun passes back what is
//                    asked of the guardians
//
// Thread rules: one thread.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "boot/channel.h"
#include "boot/deadline.h"
#include "boot/job_page.h"
#include "boot/launch_spec.h"

namespace gex::boot {

/// What guardians tell the coordinator of their job.
class Coordinator {
 public:
  virtual ~Coordinator() = default;

  /// A process of `rank` has said hello.
  virtual void joined(std::uint32_t rank, pid_t process) = 0;
  /// All ranks of the guardian's host have contributed to the exchange: `bytes`, in rank order.
  virtual void contribute(std::uint32_t sequence, SharedBytes bytes) = 0;
  /// `rank` has left before exchange number `sequence`. A departure that ends the job does so once
  /// all have left, or after a grace; it may follow one that does not.
  virtual void left(std::uint32_t rank, std::uint32_t sequence, const Departure& departure) = 0;
  /// The process that was started as `rank` has ended.
  virtual void gone(std::uint32_t rank, pid_t process) = 0;
  /// Ranks wait in a collective call for `absent`, which has left.
  virtual void waits_in_vain(std::uint32_t absent) = 0;
  /// A rank of the guardian's host, or the guardian, ends the job. `text`, where there is one,
  /// tells the user why; it is printed if nobody has ended the job before.
  virtual void end(const Ending& ending, const std::string& text) = 0;
  /// A rank of the guardian's host is about to tell of an error; the answer is `tell`.
  virtual void asks_to_tell() = 0;
  /// Somebody asked the guardian itself to end, with this signal.
  virtual void interrupted(int signal) = 0;
  /// Nothing of the job is left on the guardian's host. `lost_output`: not all that was printed
  /// could be written.
  virtual void finished(bool lost_output) = 0;
};

/// How much time the ranks of a job that is being ended are given.
enum class Haste : std::uint32_t {
  none,     ///< to tidy up
  timely,   ///< the time is up: none to tidy up
  at_once,  ///< a host is lost: everything ends within a second
};

/// What the coordinator asks of all guardians of the job.
class Guardians {
 public:
  virtual ~Guardians() = default;

  /// Everybody's contributions to an exchange.
  virtual void gathered(std::uint32_t sequence, SharedBytes bytes) = 0;
  /// `rank` has left before exchange number `sequence`: who contributes to it waits in vain.
  virtual void absent(std::uint32_t rank, std::uint32_t sequence) = 0;
  /// Every rank has left with 0. `finalize_mpi`: and MPI, where it is initialized, can be finalized
  /// in all of them, which is collective.
  virtual void farewell(bool finalize_mpi) = 0;
  /// The job ends.
  virtual void end(const Ending& ending, Haste haste) = 0;
  /// Pass this signal on to the ranks. SIGINT, SIGTERM and SIGHUP end the job.
  virtual void signal(int number) = 0;
};

class JobCoordinator final : public Coordinator {
 public:
  JobCoordinator(const Launch& launch, Guardians& guardians);

  void joined(std::uint32_t rank, pid_t process) override;
  /// Of a job of one host: what its ranks contribute is everybody's.
  void contribute(std::uint32_t sequence, SharedBytes bytes) override;
  void left(std::uint32_t rank, std::uint32_t sequence, const Departure& departure) override;
  void gone(std::uint32_t rank, pid_t process) override;
  void waits_in_vain(std::uint32_t absent) override;
  void end(const Ending& ending, const std::string& text) override;
  /// Not needed: the page of a job of one host decides, and of several gexrun answers.
  void asks_to_tell() override {}
  void interrupted(int signal) override;
  void finished(bool lost_output) override { lost_output_ = lost_output_ || lost_output; }

  /// The job ends because something is lost that it cannot go on without; `text` says what.
  void lose(const std::string& text);

  /// "rank 3 (host node7, pid 4711)".
  std::string name_of(std::uint32_t rank) const;

  Deadline next_deadline() const noexcept;
  void meet_deadlines();

  bool ending() const noexcept { return ending_; }
  bool all_gone() const noexcept { return gone_count_ == ranks_.size(); }
  /// A job that was interrupted, timed out or lost a host does not wait for slow readers.
  bool hurried() const noexcept { return hurried_; }
  /// What the launcher exits with, once all guardians have finished.
  int status() const noexcept;

 private:
  struct Rank {
    pid_t process = 0;
    bool joined = false;
    bool left = false;
    bool ends = false;  ///< has left in a way that ends the job
    bool gone = false;
  };

  void end(const Ending& ending, const std::string& text, Haste haste);
  void never_joined(std::uint32_t rank);
  void begin_grace(std::uint32_t rank, const Departure& departure);
  void all_left();
  void end_grace();
  std::string waiting_ranks() const;
  /// "TEXT" with the absent rank before and those who wait for it behind.
  void fail_in_vain(std::uint32_t absent, const char* text, const std::string& waiters);
  void time_out();
  void leave_time_out();
  void show_progress();
  template <typename Condition>
  std::string ranks_where(Condition condition) const;

  const Launch& launch_;
  Guardians& guardians_;
  std::vector<Rank> ranks_;
  std::uint32_t joined_count_ = 0;
  std::uint32_t left_count_ = 0;
  std::uint32_t gone_count_ = 0;
  bool ending_ = false;
  bool hurried_ = false;
  bool lost_output_ = false;
  bool progress_shown_ = false;
  int code_ = 0;
  int interrupted_by_ = 0;
  Clock::time_point interrupted_at_;
  Deadline leave_at_;
  bool mpi_kept_ = false;  ///< by some rank that has left

  /// Who has left in a way that ends the job: the first, or the first with a code other than 0.
  struct Leaver {
    std::uint32_t rank = 0;
    Departure departure;
  };
  Leaver leaver_;
  Deadline grace_over_at_;
  Deadline time_limit_at_;
  Deadline progress_at_;
};

}  // namespace gex::boot
