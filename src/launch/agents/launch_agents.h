#pragma once
// The launch agents of a gexrun on several hosts: a process for each host, usually ssh, that runs
// gexrun --host-part there (host_part_run.h).
//
// The root writes the host's part of the job, with the job's secret, to the agent's standard input
// (host_start.h). The ranks' output arrives on the agent's standard output and error.
//
// Where there are more than GEX_LAUNCH_FANOUT hosts, the gexrun on some of them starts others by
// the same class (branch.h). Their output comes through such a branch, and their guardians connect
// to it. A host that no remote shell reaches from its branch is started by the root after all.
//
// No more than GEX_RSH_AT_ONCE agents are connecting at a time. One that fails with the status of a
// failed ssh before its host has connected is started again, after a growing pause: sshd refuses
// connections while too many are not authenticated yet (MaxStartups), or is not up yet.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/agents/host_start.h"
#include "launch/agents/remote_start.h"
#include "launch/hosts/host_agents.h"
#include "launch/hosts/host_tree.h"
#include "launch/launch_spec.h"
#include "launch/line_relay.h"

namespace gex::launch {

/// Runs a job of several hosts and returns its exit status. Called once in a process, which then
/// exits.
int run_root(const Launch& launch, const RemoteStart& remote);

/// GEX_LAUNCH_FANOUT; 0 where the hosts cannot start one another.
std::uint32_t fanout(const RemoteStart& remote);

/// The path of this program's file.
std::string own_path();

/// Thread rules: one thread.
class LaunchAgents final : public HostAgents {
 public:
  /// In the root, or in a branch on the host `start.launch.host`, which is in the tree.
  enum class Place : std::uint8_t { root, branch };

  /// The agents of the hosts of `tree`, which get `start` with what concerns the host and the root
  /// filled in.
  LaunchAgents(Place place, HostStart start, HostTree tree);

  const Launch& launch() const noexcept { return launch_; }

  const HostTree& tree() const override { return tree_; }
  Reach reach() const override;
  std::optional<std::string> start(const RootHosts& hosts, HostEvents& events,
                                   const RootPlace& root) override;
  void handle_connected(std::uint32_t host) override;
  void handle_branch_connected(std::uint32_t host) override;
  void take_over(std::uint32_t host, const std::vector<std::uint32_t>& moved,
                 const std::string& why) override;
  void handle_exit(pid_t process, int status) override;
  void kill(std::uint32_t host) override;
  void retire(std::uint32_t host, bool finished) override;
  int output_event() const override { return relay_.finished_event(); }
  bool output_finished() const override { return relay_.finished(); }
  bool lost_output() const override { return relay_.lost_output(); }
  void finish() override { relay_.detach(); }

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  /// `elsewhere`: started by a branch. `waiting`: to be started, for the first time or again.
  /// `connecting`: started.
  enum class State : std::uint8_t { elsewhere, waiting, connecting, connected, ended };
  struct Agent {
    State state = State::elsewhere;
    std::uint32_t unfinished = 0;  ///< hosts that are reached through it, its own included
    bool failed = false;           ///< one of these has not finished properly
    pid_t process = 0;
    bool exited = false;
    std::string loss;  ///< what `lost_at` reports
    std::uint32_t tries = 0;
    /// The writing ends of what the agent reads and the relay reads, until the host has connected:
    /// an agent that fails before may be replaced.
    os::FileDescriptor input;
    os::FileDescriptor output;
    os::FileDescriptor error;
    Deadline start_at;    ///< not before, when waiting
    Deadline connect_by;  ///< when connecting
    Deadline kill_at;
    Deadline lost_at;  ///< set when the agent has failed
    /// The agent has failed before its host has connected, for a reason that it may have written.
    bool has_cause = false;
    bool unreached = false;  ///< because the remote shell has failed
    Deadline cause_by;       ///< until then the reason is waited for, from `lost_at` on
  };

  bool in_tree(std::uint32_t host) const { return tree_.parent(host) != HostTree::nowhere; }
  void kill_agent(std::uint32_t host);
  void settle(std::uint32_t host, std::uint32_t hosts, bool finished);
  bool prepare(std::uint32_t host);
  void start_waiting();
  bool start_one(std::uint32_t host);
  void leave_connecting(std::uint32_t host, State next);
  bool try_again(std::uint32_t host, int status);
  [[noreturn]] void execute(std::uint32_t host, int input, int output, int error);
  std::vector<std::string> command_for(std::uint32_t host) const;
  void handle_exit_of(std::uint32_t host, int status);
  void report_loss(std::uint32_t host);
  void report_still_starting();

  const Place place_;
  HostStart start_;  ///< what agents get
  const Launch& launch_;
  const RemoteStart& remote_;
  HostTree tree_;
  const std::uint32_t max_tries_;
  const std::uint32_t max_connecting_;
  const double connect_timeout_;
  const RootHosts* hosts_ = nullptr;
  HostEvents* events_ = nullptr;
  std::uint32_t connecting_ = 0;
  /// When the hosts that have not joined yet are reported; empty once all have.
  Deadline still_starting_at_;
  double waited_ = 0;  ///< seconds from the start to that moment
  std::vector<Agent> agents_;
  LineRelay relay_;
  rlimit descriptors_before_{};  ///< that agents restore
};

}  // namespace gex::launch
