#pragma once
// The launch agents of a gexrun on several hosts: a process for each host, usually ssh, that runs
// gexrun --host-part there (host_part_run.h).
//
// The root writes the host's part of the job, with the job's secret, to the agent's standard input
// (host_start.h). The ranks' output arrives on the agent's standard output and error.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/hosts/host_agents.h"
#include "launch/launch_spec.h"
#include "launch/line_relay.h"

namespace gex::launch {

/// How a command is started on another host.
struct RemoteStart {
  std::vector<std::string> rsh;  ///< the words before the host's name and the command
  std::string gexrun;            ///< path of gexrun on the other host
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
  struct Agent {
    pid_t process = 0;
    bool exited = false;
    std::string exit;  ///< how it has ended, for messages
    Deadline kill_at;
    Deadline lost_at;  ///< set when the agent has failed
  };

  bool start_one(std::uint32_t host, const RootPlace& root);
  [[noreturn]] void execute(std::uint32_t host, int input, int output, int error);
  std::vector<std::string> command_for(std::uint32_t host) const;
  void handle_exit_of(std::uint32_t host, int status);

  const Launch& launch_;
  const RemoteStart& remote_;
  const RootHosts* hosts_ = nullptr;
  HostEvents* events_ = nullptr;
  std::vector<Agent> agents_;
  LineRelay relay_;
  rlimit descriptors_before_{};  ///< that agents restore
};

}  // namespace gex::launch
