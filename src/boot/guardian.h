#pragma once
// The guardian of a host: parent of the job's ranks there, server of their control sockets, and the
// one who ends them. What concerns the whole job, on this host alone or on several, is the
// coordinator's to decide (coordinator.h).
//
// It is one thread around one epoll and never waits for anything else: what a rank does not take
// waits in that rank's channel, and what the ranks print is passed on by a thread of its own
// (`LineRelay`). All signals are blocked in it.
//
// How a job ends. The first thing that ends it decides the status (`JobPage::claim`): a rank's
// death, a fatal error, a broken rule, the time limit, an interrupt, the loss of a host; or that a
// rank has called gasnet_exit, or exit with a status other than 0, and all others have left as well
// or a grace is over, within which nothing happens to them (JobCoordinator). From then on the ranks
// are asked to end, and made to:
//   at once            an `ending` frame, and the job page says so to whoever polls
//   quit_grace         SIGQUIT to ranks that catch it (GASNet-1 gives it to the client)
//   terminate_grace    SIGTERM to those that have not begun to end
//   kill_grace         SIGKILL to everything that is left
//
// Where another launcher has started the ranks (foreign.h) the guardian adopts them: they connect
// to it, it notices that one has ended, though not how, and it can end no more than the ranks
// themselves. They are no children of its, which would die with it, so a process that does nothing
// else watches it and ends them after it.
//
// In a job of several hosts, when the root has been silent for too long (link.h), or the
// connection to it has ended, everything is killed at once.

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

/// What an epoll event of a guardian's is about: a kind above a rank, or a descriptor.
enum Tag : std::uint64_t {
  from_launcher = 1,
  from_children,
  from_relay,
  from_root,
  from_listener,
  from_newcomer,
  from_rank,
  from_program
};
constexpr std::uint64_t make_tag(Tag tag, std::uint32_t index = 0) {
  return (std::uint64_t{tag} << 32) | index;
}

/// Name of the guardian's process, by which a program that has lost its place in a job finds out.
inline constexpr const char* guardian_name = "gex-guardian";

class Guardian final : private Guardians {
 public:
  /// `launcher` is the pipe to the launcher, none for a guardian that adopts; `signals` is what the
  /// ranks get back.
  Guardian(const Launch& launch, os::FileDescriptor launcher, const SignalState& signals);

  /// Leaves the terminal and starts the ranks. Answers only in a rank that is a fork of the
  /// caller. Ends the process, after what it started, when a rank cannot be started.
  std::optional<Membership> start();

  /// Serves the ranks until none is left and all they printed is written; the exit status.
  int serve();
  /// The same in a process of its own, for ranks that are not the guardian's children: should it be
  /// killed, the calling process, which does nothing else, ends them in its place.
  int serve_watched();

 private:
  struct Rank {
    pid_t process = 0;                 ///< our child: the program, or a wrapper around it
    pid_t joined_process = 0;          ///< who said hello
    os::FileDescriptor joined_handle;  ///< where that is not our child: tells when it has ended
    Channel channel;
    bool blocked = false;  ///< what waits in the channel waits for the socket to be writable
    bool joined = false;
    bool left = false;       ///< has returned from main, or called exit or gasnet_exit
    bool ends = false;       ///< in a way that ends the job
    int left_with = 0;       ///< and with this status
    bool end_begun = false;  ///< has said that it ends the job, or follows who did
    bool gone = false;       ///< our child has ended
    Deadline lost;           ///< the program went away; when its wrapper does not, that is an error
  };

  // guardian.cc
  void start_rank(std::uint32_t rank, const Inheritance& inheritance,
                  std::optional<Membership>& membership);
  void decide_binding(std::size_t spare_descriptors);
  [[noreturn]] void give_up_start(const std::string& why);
  void watch(int descriptor, std::uint64_t tag);
  void prepare_to_serve();
  void dispatch(std::uint64_t tag, std::uint32_t events);
  Deadline next_deadline() const;
  void meet_deadlines();
  void hear_launcher();
  void hear_root();
  void watch_root();
  void flush(std::uint32_t rank);
  void hear(std::uint32_t rank);
  void take(std::uint32_t rank, Received frame);
  void take_hello(std::uint32_t rank, pid_t sender);
  void take_gather(std::uint32_t rank, const Received& frame);
  void take_share(std::uint32_t rank, Received& frame);
  void take_leave(std::uint32_t rank, const Departure& departure);
  void take_vain_wait(std::uint32_t rank, std::uint32_t absent);
  void take_exec_failure(std::uint32_t rank, int error, StartStep step);
  void closed(std::uint32_t rank);
  void gathered(std::uint32_t sequence, SharedBytes bytes) override;
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void farewell(bool finalize_mpi) override;
  bool all_gone() const noexcept { return gone_count_ == ranks_.size(); }
  Rank& at(std::uint32_t rank) noexcept { return ranks_[part_.ranks.index_of(rank)]; }
  const Rank& at(std::uint32_t rank) const noexcept { return ranks_[part_.ranks.index_of(rank)]; }
  Coordinator& coordinator() noexcept;

  // guardian_adopt.cc
  bool adopting() const noexcept { return launch_.adopts >= 0; }
  void prepare_to_adopt();
  void accept_newcomers();
  void hear_newcomer(int socket);
  void adopt(std::uint32_t rank, pid_t process, os::FileDescriptor socket);
  void adopted_ended(std::uint32_t rank);
  void signal_adopted(const Rank& rank, int number);
  void miss_newcomers();
  void lose_launcher();
  void give_up_newcomers();
  void stop_listening();

  // guardian_end.cc
  void reap();
  void reaped(pid_t process, int status);
  void judge(std::uint32_t rank, int status);
  void find_waits_in_vain();
  void fault(std::uint32_t rank, const std::string& what);
  void died(std::uint32_t rank, const std::string& how);
  void ask_to_end(const Ending& ending, const std::string& text);
  void end(const Ending& ending, Haste haste) override;
  void signal(int number) override;
  void interrupt(int number);
  void signal_rank(const Rank& rank, int signal);
  void signal_ranks(int signal);
  void quit_ranks();
  void terminate_ranks();
  void kill_everything();
  void lose(std::uint32_t rank);
  [[noreturn]] void abandon(const std::string& why);
  std::string name_of(std::uint32_t rank) const;
  std::string moment_of(std::uint32_t rank) const;

  const Launch& launch_;
  os::FileDescriptor launcher_;  ///< the pipe, or the process where it is not ours
  SignalState signals_before_;
  const HostPart& part_;
  std::vector<Rank> ranks_;  ///< of this host: `at` finds one by its rank
  JobPage page_;
  SharedDescriptor page_file_;
  SharedBytes host_numbers_;  ///< as ranks are told, see FrameKind::welcome
  Gather gather_;
  Sharing sharing_;
  LineRelay relay_;
  Binding binding_;
  MemoryKills memory_kills_;
  FrameBuffer frame_;
  os::FileDescriptor epoll_;
  os::FileDescriptor signals_;

  /// A connection of a process that has not said yet which rank it is.
  struct Newcomer {
    Channel channel;
    pid_t process = 0;
  };
  std::vector<Newcomer> newcomers_;
  class Adopted;
  std::shared_ptr<Adopted> adopted_;
  Deadline newcomers_at_;  ///< by then all ranks must have come
  bool told_of_stranger_ = false;
  bool told_of_garbage_ = false;

  std::optional<JobCoordinator> job_;  ///< this host is all of the job
  std::optional<Uplink> uplink_;       ///< or one of several
  bool root_blocked_ = false;

  /// A rank of the job that has left, and the exchange before which it did.
  struct Absence {
    std::uint32_t rank;
    std::uint32_t sequence;
  };
  std::optional<Absence> absence_;
  std::uint32_t gone_count_ = 0;
  bool ending_ = false;
  bool starved_ = false;  ///< some channel waits for the kernel to have descriptors for it
  bool hurried_ = false;  ///< interrupted or timed out: does not wait for who reads the output
  int interrupted_by_ = 0;
  Deadline quit_at_;
  Deadline terminate_at_;
  Deadline kill_at_;
  Deadline abandon_output_at_;
};

}  // namespace gex::boot
