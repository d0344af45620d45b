#pragma once
// The guardian of a host: the daemon that is the parent of the job's ranks there, serves their
// control sockets and ends them. Decisions about the whole job are the coordinator's
// (launch/coordinator.h).
//
// The guardian is one thread around one EventLoop and blocks on nothing else: frames that a rank
// does not receive wait in that rank's channel, and another thread forwards the ranks' output
// (`LineRelay`). All signals are blocked. Its parts are listed in local_job.h; this class puts them
// together and passes them what the coordinator and the launcher order.
//
// How a job ends. The first cause decides the status (`JobPage::claim`): a rank's death, a fatal
// error, a violation of the protocol, the time limit, an interrupt, the loss of a host; or a rank
// has called gasnet_exit, or exit with a status other than 0, and all others have left too or their
// grace period is over (JobCoordinator). From then on the guardian ends its ranks, in steps
// (rank_teardown.h).
//
// If another launcher has started the ranks (job/foreign.h), the guardian adopts them (adoption.h).
// The kernel does not kill adopted ranks when the guardian dies, as it kills children
// (PR_SET_PDEATHSIG); so a second process watches the guardian and would end the ranks in its
// place.
//
// With several hosts, a guardian whose connection to the root ends or times out
// (launch/hosts/link.h) kills all processes of its host at once.

#include <cstdint>
#include <optional>
#include <string>

#include "base/os_file.h"
#include "launch/coordinator.h"
#include "launch/event_loop.h"
#include "launch/hang/report_server.h"
#include "launch/hosts/uplink.h"
#include "launch/launch_spec.h"
#include "launch/launcher_signals.h"
#include "launch/line_relay.h"
#include "launch/local/adoption.h"
#include "launch/local/control_server.h"
#include "launch/local/local_job.h"
#include "launch/local/local_processes.h"
#include "launch/local/rank_observer.h"
#include "launch/local/rank_start.h"
#include "launch/local/rank_teardown.h"

namespace gex::launch {

class Guardian final : private Guardians {
 public:
  /// `launcher` is the pipe to the launcher, empty for a guardian that adopts; `signals` is the
  /// state that ranks restore.
  Guardian(const Launch& launch, os::FileDescriptor launcher, const SignalState& signals);

  /// Leaves the terminal and starts the ranks. Returns a membership only in a rank that is a fork
  /// of the caller. If a rank cannot be started, ends all that were started, and the process.
  std::optional<job::Membership> start();

  /// Serves the ranks until all have ended and their output is written. Returns the exit status.
  int serve();
  /// Serves adopted ranks, in a child process. The calling process waits for that, and ends the
  /// ranks if it is killed.
  int serve_watched();

 private:
  void gathered(std::uint32_t sequence, SharedBytes bytes) override;
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void release(bool finalize) override;
  void end(const job::Ending& ending, Teardown teardown) override;
  void signal(int number) override;
  void observe(std::uint32_t interval_ms) override;
  void collect(std::uint32_t number, Collection what) override;

  void prepare_to_serve();
  void serve_reports();
  void await_launcher();
  void receive_from_launcher();
  bool output_done() const;

  LocalJob job_;
  EventLoop loop_;
  LineRelay relay_;
  LocalProcesses processes_;
  RankObserver observer_;
  ControlServer control_;
  RankTeardown teardown_;
  Adoption adoption_;
  SignalState signals_before_;
  os::FileDescriptor launcher_;
  EventLoop::Watch launcher_watch_;
  EventLoop::Watch relay_watch_;
  std::optional<RankStart> rank_start_;        ///< unless the ranks are adopted
  std::optional<JobCoordinator> coordinator_;  ///< with one host
  std::optional<ReportServer> report_server_;  ///< with one host
  std::optional<Uplink> uplink_;               ///< with several hosts
};

}  // namespace gex::launch
