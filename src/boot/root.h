#pragma once
// The root of a job of several hosts: gexrun itself.
//
//   gexrun            the root: decides what concerns the whole job
//   |- ssh a gexrun --host-part      the launch agent of host a, and the launcher there
//   |                 `- guardian    of the ranks of host a (launcher.h)
//   `- ssh b ...
//
// The root starts a launch agent for each host and writes the host's part of the job, with the
// job's secret, to its standard input. The guardian there connects back over TCP and authenticates
// itself (auth_handshake.h); the two exchange frames over that connection (link.h). The root
// listens until all hosts are connected. The ranks' output arrives on the agent's standard output
// and error.
//
// A host is lost when its connection ends or times out (link.h), or when its launch agent fails;
// then the job ends on the other hosts.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "boot/auth_handshake.h"
#include "boot/coordinator.h"
#include "boot/launch_spec.h"
#include "boot/line_relay.h"
#include "boot/link.h"
#include "boot/rendezvous.h"

namespace gex::boot {

/// How a command is started on another host.
struct RemoteStart {
  std::vector<std::string> rsh;  ///< the words before the host's name and the command
  std::string gexrun;            ///< path of gexrun on the other host
};

/// Runs a job of several hosts and returns its exit status. Called once in a process, which then
/// exits.
int run_root(const Launch& launch, const RemoteStart& remote);

/// Runs a job of several hosts whose ranks another launcher has started (foreign.h), and returns
/// its exit status. Their guardians connect to `listener`.
int run_root_of_started(const Launch& launch, const Secret& secret, os::FileDescriptor listener);

/// The path of this program's file.
std::string own_path();

/// Thread rules: one thread. All signals are blocked.
class Root final : private Guardians {
 public:
  Root(const Launch& launch, const RemoteStart& remote);
  Root(const Launch& launch, const Secret& secret, os::FileDescriptor listener);

  /// Runs the job and returns its exit status.
  int run();

 private:
  struct Host {
    pid_t agent = 0;
    bool agent_exited = false;
    Deadline kill_agent_at;
    std::string agent_exit;  ///< how the agent has ended, for messages
    Deadline lost_at;        ///< set when the agent has failed
    Link link;
    bool connected = false;
    bool blocked = false;
    bool done = false;  ///< has finished, or is lost
  };

  void gathered(std::uint32_t sequence, SharedBytes bytes) override;
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void release(bool finalize_mpi) override;
  void end(const Ending& ending, Teardown teardown) override;
  void signal(int number) override;

  Reach reach() const;
  bool prepare();
  bool start(std::uint32_t host);
  [[noreturn]] void exec_agent(std::uint32_t host, int input, int output, int error);
  std::vector<std::string> command_for(std::uint32_t host) const;
  void watch(int descriptor, std::uint64_t tag);
  void dispatch(std::uint64_t tag, std::uint32_t events);
  bool make_room_for_connection();
  void stop_listening();
  void accept_connections();
  void continue_handshake(int socket);
  void report_refused(const AuthHandshake& connection);
  void connected(std::uint32_t host, os::FileDescriptor socket);
  static void kill_agent(const Host& host) noexcept;
  void send_to(std::uint32_t host, const FrameHeader& header);
  void broadcast(const FrameHeader& header);
  void flush(std::uint32_t host);
  void receive_from(std::uint32_t host);
  bool handle_frame(std::uint32_t host, const Received& frame);
  bool handle_gather(std::uint32_t host, const Received& frame);
  void handle_signals();
  void reap();
  void handle_agent_exit(std::uint32_t host, int status);
  void lose_host(std::uint32_t host, const std::string& why);
  void retire_host(std::uint32_t host, bool finished);
  Deadline next_deadline() const;
  void meet_deadlines();
  bool all_done() const noexcept { return done_count_ == hosts_.size(); }
  std::string name_of(std::uint32_t host) const;

  const Launch& launch_;
  const RemoteStart* remote_;  ///< null: another launcher starts the ranks
  Secret secret_;
  RootAddress address_;
  os::FileDescriptor listener_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<AuthHandshake>> pending_connections_;
  JobCoordinator job_;
  Gather gather_;
  LineRelay relay_;
  os::FileDescriptor epoll_;
  os::FileDescriptor signals_;
  std::vector<pid_t> spared_;

  std::uint32_t connected_count_ = 0;
  std::uint32_t done_count_ = 0;
  std::optional<FrameHeader> absence_;  ///< the frame about the first rank that has left
  FrameHeader end_;                     ///< the frame about the end of the job
  bool error_report_granted_ = false;
  bool refusal_reported_ = false;
  int interrupts_ = 0;
  rlimit descriptors_before_{};
  Deadline listen_at_;  ///< when accepting, which is paused, resumes
  Deadline heartbeat_at_;
  Deadline connect_limit_;
  Deadline abandon_output_at_;
};

}  // namespace gex::boot
