#pragma once
// The steps by which a guardian ends the ranks of its host, once the job ends:
//
//   at once            an `ending` frame, and the job page, which polling ranks read
//   quit_grace         SIGQUIT to ranks that catch it (GASNet-1 gives it to the client)
//   terminate_grace    SIGTERM to ranks that have not begun to end
//   kill_grace         SIGKILL to every process that is left
//
// An interrupt, an expired time limit and the loss of a host shorten or skip steps. When no rank is
// left, the guardian waits for their output, for a limited time if the end is urgent.

#include <string>

#include "launch/event_loop.h"
#include "launch/line_relay.h"
#include "launch/local/control_server.h"
#include "launch/local/local_job.h"
#include "launch/local/local_processes.h"

namespace gex::launch {

/// Thread rules: one thread.
class RankTeardown final : public Timed {
 public:
  RankTeardown(LocalJob& job, LocalProcesses& processes, ControlServer& control, LineRelay& relay);

  /// Ends the ranks with the first end of the job that was claimed, which is `asked` or an earlier
  /// one. Without effect if the job ends already.
  void begin(const job::Ending& asked, Teardown teardown);
  /// Limits the time until SIGKILL.
  void kill_after(double seconds) { kill_at_ = after(seconds); }
  /// Forwards a signal that ends the job. The second one kills the ranks.
  void interrupt(int number);

  /// No rank is left: kills the processes that they have left behind, which belong to the job and
  /// keep its output open.
  void sweep();
  /// The time to wait for the ranks' output is over.
  bool output_abandoned() const;

  /// Kills all processes of this host and exits: the launcher was killed, or the connection to the
  /// root of the job is lost. `why`: the message to the user, or empty.
  [[noreturn]] void abandon(const std::string& why);

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  void kill_everything();

  LocalJob& job_;
  LocalProcesses& processes_;
  ControlServer& control_;
  LineRelay& relay_;
  bool urgent_ = false;  ///< interrupted or timed out: output is not waited for
  Deadline quit_at_;
  Deadline terminate_at_;
  Deadline kill_at_;
  Deadline abandon_output_at_;
};

}  // namespace gex::launch
