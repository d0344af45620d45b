#pragma once
// The root of a job of several hosts: gexrun itself.
//
//   gexrun            the root: decides what concerns the whole job
//   |- ssh a gexrun --host-part      the launcher on host a
//   |                 `- guardian    of the ranks of host a (launcher.h)
//   `- ssh b ...
//
// What to do, the job's secret with it, goes to each host over the standard input of what starts it
// there. Its guardian connects back over TCP, shows that it knows the secret (greeting.h), and from
// then on says over that connection what happens (link.h). The root listens until all hosts are
// connected, and not longer. What the ranks print comes back over the starter's standard output and
// error.
//
// A host is lost when its connection ends, when it is silent for too long (link.h), or when
// what has started it there fails; then the job ends on the others.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "boot/coordinator.h"
#include "boot/greeting.h"
#include "boot/launch_spec.h"
#include "boot/line_relay.h"
#include "boot/link.h"
#include "boot/rendezvous.h"

namespace gex::boot {

/// How a command is started on another host.
struct RemoteStart {
  std::vector<std::string> rsh;  ///< to be followed by the host's name and the command
  std::string gexrun;            ///< path of gexrun there
};

/// Runs a job of several hosts; its exit status. Called once in a process, which then ends.
int run_root(const Launch& launch, const RemoteStart& remote);

/// The same of a job whose ranks another launcher has started (foreign.h), for whose guardians
/// `listener` waits.
int run_root_of_started(const Launch& launch, const Secret& secret, os::FileDescriptor listener);

/// The path of this program.
std::string own_path();

/// Thread rules: one thread. All signals are blocked.
class Root final : private Guardians {
 public:
  Root(const Launch& launch, const RemoteStart& remote);
  Root(const Launch& launch, const Secret& secret, os::FileDescriptor listener);

  /// Runs the job; its exit status.
  int run();

 private:
  struct Host {
    pid_t starter = 0;
    bool starter_gone = false;
    Deadline end_starter_at;
    std::string starters_end;  ///< how it has ended
    Deadline lost_at;          ///< its starter has failed
    Link link;
    bool connected = false;
    bool blocked = false;
    bool done = false;  ///< has finished, or is lost
  };

  void gathered(std::uint32_t sequence, SharedBytes bytes) override;
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void farewell(bool finalize_mpi) override;
  void end(const Ending& ending, Haste haste) override;
  void signal(int number) override;

  Reach reach() const;
  bool prepare();
  bool start(std::uint32_t host);
  [[noreturn]] void become_starter(std::uint32_t host, int input, int output, int error);
  std::vector<std::string> command_for(std::uint32_t host) const;
  void watch(int descriptor, std::uint64_t tag);
  void dispatch(std::uint64_t tag, std::uint32_t events);
  bool has_room_for_guest();
  void stop_listening();
  void accept_guests();
  void hear_guest(int socket);
  void refuse(const Greeting& guest);
  void connected(std::uint32_t host, os::FileDescriptor socket);
  static void kill_starter(const Host& host) noexcept;
  void tell(std::uint32_t host, const FrameHeader& header);
  void tell_all(const FrameHeader& header);
  void flush(std::uint32_t host);
  void hear(std::uint32_t host);
  bool take(std::uint32_t host, const Received& frame);
  bool take_gather(std::uint32_t host, const Received& frame);
  void hear_signals();
  void reap();
  void starter_ended(std::uint32_t host, int status);
  void lose(std::uint32_t host, const std::string& why);
  void let_go(std::uint32_t host, bool finished);
  Deadline next_deadline() const;
  void meet_deadlines();
  bool all_done() const noexcept { return done_count_ == hosts_.size(); }
  std::string name_of(std::uint32_t host) const;

  const Launch& launch_;
  const RemoteStart* remote_;  ///< null: somebody else starts the ranks
  Secret secret_;
  RootAddress address_;
  os::FileDescriptor listener_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Greeting>> guests_;
  JobCoordinator job_;
  Gather gather_;
  LineRelay relay_;
  os::FileDescriptor epoll_;
  os::FileDescriptor signals_;
  std::vector<pid_t> spared_;

  std::uint32_t connected_count_ = 0;
  std::uint32_t done_count_ = 0;
  std::optional<FrameHeader> absence_;  ///< what guardians are told of the first rank that has left
  FrameHeader end_;                     ///< what they are told of the end
  bool error_told_ = false;
  bool refusal_told_ = false;
  int interrupts_ = 0;
  rlimit descriptors_before_{};
  Deadline listen_at_;  ///< while it does not
  Deadline beat_at_;
  Deadline connect_limit_;
  Deadline abandon_output_at_;
};

}  // namespace gex::boot
