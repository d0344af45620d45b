#pragma once
// The guardian of a host: the daemon that is the parent of the job's ranks there, serves their
// control sockets and ends them. Decisions about the whole job are the coordinator's
// (coordinator.h).
//
// The guardian is one thread around one epoll and blocks on nothing else: frames that a rank does
// not receive wait in that rank's channel, and another thread forwards the ranks' output
// (`LineRelay`). All signals are blocked.
//
// How a job ends. The first cause decides the status (`JobPage::claim`): a rank's death, a fatal
// error, a violation of the protocol, the time limit, an interrupt, the loss of a host; or a rank
// has called gasnet_exit, or exit with a status other than 0, and all others have left too or their
// grace period is over (JobCoordinator). From then on the guardian ends its ranks, in steps:
//   at once            an `ending` frame, and the job page, which polling ranks read
//   quit_grace         SIGQUIT to ranks that catch it (GASNet-1 gives it to the client)
//   terminate_grace    SIGTERM to ranks that have not begun to end
//   kill_grace         SIGKILL to every process that is left
//
// If another launcher has started the ranks (foreign.h), the guardian adopts them: they connect to
// it. It can detect that one has ended, though not how, and it can signal the ranks only, not the
// processes that they have started. The kernel does not kill adopted ranks when the guardian dies,
// as it kills children (PR_SET_PDEATHSIG); so a second process watches the guardian and would end
// the ranks in its place.
//
// With several hosts, a guardian whose connection to the root ends or times out (link.h) kills all
// processes of its host at once.

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "boot/binding.h"
#include "boot/channel.h"
#include "boot/coordinator.h"
#include "boot/deadline.h"
#include "boot/job_page.h"
#include "boot/launch_spec.h"
#include "boot/launcher_signals.h"
#include "boot/line_relay.h"
#include "boot/memory_kills.h"
#include "boot/rendezvous.h"
#include "boot/spawn.h"
#include "boot/uplink.h"

namespace gex::boot {

/// The source of an epoll event: a kind, and a rank or a descriptor in the low half of the tag.
enum Tag : std::uint64_t {
  from_launcher = 1,
  from_children,
  from_relay,
  from_root,
  from_listener,
  from_pending,
  from_rank,
  from_program
};
constexpr std::uint64_t make_tag(Tag tag, std::uint32_t index = 0) {
  return (std::uint64_t{tag} << 32) | index;
}

/// Name of the guardian's process. A rank without GEX_JOB recognizes its guardian by it (job.cc).
inline constexpr const char* guardian_name = "gex-guardian";

class Guardian final : private Guardians {
 public:
  /// `launcher` is the pipe to the launcher, empty for a guardian that adopts; `signals` is the
  /// state that ranks restore.
  Guardian(const Launch& launch, os::FileDescriptor launcher, const SignalState& signals);

  /// Leaves the terminal and starts the ranks. Returns a membership only in a rank that is a fork
  /// of the caller. If a rank cannot be started, ends all that were started, and the process.
  std::optional<Membership> start();

  /// Serves the ranks until all have ended and their output is written. Returns the exit status.
  int serve();
  /// Serves adopted ranks, in a child process. The calling process waits for that, and ends the
  /// ranks if it is killed.
  int serve_watched();

 private:
  struct Rank {
    pid_t process = 0;         ///< the guardian's child: the program, or a wrapper around it
    pid_t joined_process = 0;  ///< the process that has joined
    os::FileDescriptor joined_handle;  ///< its pidfd, unless it is the child
    Channel channel;
    bool blocked = false;  ///< queued frames wait for the socket to be writable
    bool joined = false;
    bool left = false;       ///< has returned from main, or called exit or gasnet_exit
    bool ends = false;       ///< by a departure that ends the job
    int left_with = 0;       ///< with this exit status
    bool end_begun = false;  ///< has announced that it ends the job, or ends with it
    bool gone = false;       ///< the child has ended
    Deadline lost;           ///< the program has ended; by then its wrapper must end too
  };

  // guardian.cc
  void start_rank(std::uint32_t rank, const Inheritance& inheritance,
                  std::optional<Membership>& membership);
  void decide_binding(std::size_t spare_descriptors);
  [[noreturn]] void fail_start(const std::string& why);
  void watch(int descriptor, std::uint64_t tag);
  void prepare_to_serve();
  void dispatch(std::uint64_t tag, std::uint32_t events);
  Deadline next_deadline() const;
  void meet_deadlines();
  void receive_from_launcher();
  void receive_from_root();
  void update_root_events();
  void flush(std::uint32_t rank);
  void receive_from(std::uint32_t rank);
  void handle_frame(std::uint32_t rank, Received frame);
  void handle_hello(std::uint32_t rank, pid_t sender);
  void handle_gather(std::uint32_t rank, const Received& frame);
  void handle_share(std::uint32_t rank, Received& frame);
  void handle_leave(std::uint32_t rank, const Departure& departure);
  void handle_wait_on_exited_rank(std::uint32_t rank, std::uint32_t peer);
  void handle_exec_failure(std::uint32_t rank, int error, StartStep step);
  void handle_close(std::uint32_t rank);
  void gathered(std::uint32_t sequence, SharedBytes bytes) override;
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void release(bool finalize_mpi) override;
  bool all_gone() const noexcept { return gone_count_ == ranks_.size(); }
  Rank& at(std::uint32_t rank) noexcept { return ranks_[part_.ranks.index_of(rank)]; }
  const Rank& at(std::uint32_t rank) const noexcept { return ranks_[part_.ranks.index_of(rank)]; }
  Coordinator& coordinator() noexcept;

  // guardian_adopt.cc
  bool adopting() const noexcept { return launch_.adopts >= 0; }
  void prepare_to_adopt();
  void accept_connections();
  void handle_pending_connection(int socket);
  void adopt(std::uint32_t rank, pid_t process, os::FileDescriptor socket);
  void handle_adopted_exit(std::uint32_t rank);
  void signal_adopted(const Rank& rank, int number);
  void handle_join_timeout();
  void handle_launcher_exit();
  void give_up_missing_ranks();
  void stop_listening();

  // guardian_end.cc
  void reap();
  void handle_reaped(pid_t process, int status);
  void handle_exit_status(std::uint32_t rank, int status);
  void detect_waits_on_exited_ranks();
  void fault(std::uint32_t rank, const std::string& what);
  void died(std::uint32_t rank, const std::string& how);
  void request_end(const Ending& ending, const std::string& text);
  void end(const Ending& ending, Teardown teardown) override;
  void signal(int number) override;
  void interrupt(int number);
  void signal_rank(const Rank& rank, int signal);
  void signal_ranks(int signal);
  void quit_ranks();
  void terminate_ranks();
  void kill_everything();
  void fail_lost_rank(std::uint32_t rank);
  [[noreturn]] void abandon(const std::string& why);
  std::string name_of(std::uint32_t rank) const;
  std::string moment_of(std::uint32_t rank) const;

  const Launch& launch_;
  os::FileDescriptor launcher_;  ///< the pipe, or the pidfd of a foreign launcher
  SignalState signals_before_;
  const HostPart& part_;
  std::vector<Rank> ranks_;  ///< of this host: `at` finds one by its rank
  JobPage page_;
  SharedDescriptor page_file_;
  SharedBytes host_numbers_;  ///< the payload of FrameKind::welcome
  Gather gather_;
  Sharing sharing_;
  LineRelay relay_;
  Binding binding_;
  MemoryKills memory_kills_;
  FrameBuffer frame_;
  os::FileDescriptor epoll_;
  os::FileDescriptor signals_;

  /// A connection whose process has not identified itself as a rank yet.
  struct PendingConnection {
    Channel channel;
    pid_t process = 0;
  };
  std::vector<PendingConnection> pending_connections_;
  class Adopted;
  std::shared_ptr<Adopted> adopted_;
  Deadline join_deadline_;  ///< all ranks must have joined by then
  bool refused_user_reported_ = false;
  bool refused_connection_reported_ = false;

  std::optional<JobCoordinator> job_;  ///< with one host
  std::optional<Uplink> uplink_;       ///< with several hosts
  bool root_blocked_ = false;

  /// The first rank of the job that has left, and the exchange that it has left before.
  struct Absence {
    std::uint32_t rank;
    std::uint32_t sequence;
  };
  std::optional<Absence> absence_;
  std::uint32_t gone_count_ = 0;
  bool ending_ = false;
  bool starved_ = false;  ///< some channel waits for descriptors in flight to be received
  bool urgent_ = false;   ///< interrupted or timed out: output is not waited for
  int interrupted_by_ = 0;
  Deadline quit_at_;
  Deadline terminate_at_;
  Deadline kill_at_;
  Deadline abandon_output_at_;
};

}  // namespace gex::boot
