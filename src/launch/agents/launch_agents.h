#pragma once
// The launch agents of a gexrun on several hosts: a process for each host, usually ssh, that runs
// gexrun --host-part there (host_part_run.h).
//
// The root writes the host's part of the job, with the job's secret, to the agent's standard input
// (host_start.h). The ranks' output arrives on the agent's standard output and error.
//
// No more than GEX_RSH_AT_ONCE agents are connecting at a time. One that fails with the status of a
// failed ssh before its host has connected is started again, after a growing pause: sshd refuses
// connections while too many are not authenticated yet (MaxStartups), or is not up yet.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/hosts/host_agents.h"
#include "launch/launch_spec.h"
#include "launch/line_relay.h"

namespace gex::launch {

/// How a command is started on another host.
struct RemoteStart {
  std::vector<std::string> rsh;              ///< the words before the host's name and the command
  std::map<std::string, std::string> words;  ///< the word for a host where it is not its name
  bool by_shell = true;                      ///< a shell splits the command into words there
  std::string gexrun;                        ///< path of gexrun on the other host
};

/// Runs a job of several hosts and returns its exit status. Called once in a process, which then
/// exits.
int run_root(const Launch& launch, const RemoteStart& remote);

/// The path of this program's file.
std::string own_path();

/// Thread rules: one thread.
class LaunchAgents final : public HostAgents {
 public:
  LaunchAgents(const Launch& launch, const RemoteStart& remote);

  Reach reach() const override;
  std::optional<std::string> start(const RootHosts& hosts, HostEvents& events,
                                   const RootPlace& root) override;
  void handle_connected(std::uint32_t host) override;
  void handle_exit(pid_t process, int status) override;
  void kill(std::uint32_t host) override;
  void retire(std::uint32_t host, bool finished) override;
  int output_event() const override { return relay_.finished_event(); }
  bool output_finished() const override { return relay_.finished(); }
  bool lost_output() const override { return relay_.lost_output(); }
  void abandon_output() override { relay_.detach(); }

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  /// `waiting`: to be started, for the first time or again. `connecting`: started.
  enum class State : std::uint8_t { waiting, connecting, connected, ended };
  struct Agent {
    State state = State::waiting;
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
    Deadline cause_by;  ///< until then the reason is waited for, from `lost_at` on
  };

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

  const Launch& launch_;
  const RemoteStart& remote_;
  const std::uint32_t max_tries_;
  const std::uint32_t max_connecting_;
  const double connect_timeout_;
  const RootHosts* hosts_ = nullptr;
  HostEvents* events_ = nullptr;
  RootPlace root_{{}, Secret(Secret::Bytes{})};
  std::uint32_t connecting_ = 0;
  /// When the hosts that have not joined yet are reported; empty once all have.
  Deadline still_starting_at_;
  double waited_ = 0;  ///< seconds from the start to that moment
  std::vector<Agent> agents_;
  LineRelay relay_;
  rlimit descriptors_before_{};  ///< that agents restore
};

}  // namespace gex::launch
