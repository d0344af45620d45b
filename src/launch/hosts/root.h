#pragma once
// The root of a job of several hosts: gexrun itself, or a process that rank 0 has forked if another
// launcher has started the ranks (job/foreign.h).
//
//   gexrun            the root: decides what concerns the whole job
//   |- ssh a gexrun --host-part      the launch agent of host a, and the launcher there
//   |                 `- guardian    of the ranks of host a (launch/local/launcher.h)
//   `- ssh b ...
//
// The guardians connect to the root over TCP and authenticate themselves (authentication.h); the
// two exchange frames over that connection (host_connections.h). The root listens until all hosts
// are connected. If it starts the hosts itself, it has an agent for each
// (launch/agents/launch_agents.h), which also carries the ranks' output. Where there are many
// hosts, agents start others, whose guardians connect to them (launch/agents/branch.h): the root
// has a connection for each host that it starts itself.
//
// A host is lost when its connection ends or times out (link.h), or when its launch agent fails;
// then the job ends on the other hosts.
//
// The parts are listed in root_hosts.h; this class puts them together, connects them with the
// coordinator of the job, and keeps what a host that connects late must still be sent.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "launch/coordinator.h"
#include "launch/event_loop.h"
#include "launch/hang/report_server.h"
#include "launch/hosts/authentication.h"
#include "launch/hosts/host_agents.h"
#include "launch/hosts/host_connections.h"
#include "launch/hosts/report_pieces.h"
#include "launch/hosts/root_hosts.h"
#include "launch/hosts/root_place.h"
#include "launch/launch_spec.h"
#include "launch/rendezvous.h"

namespace gex::launch {

/// Runs a job of several hosts whose ranks another launcher has started (job/foreign.h), and
/// returns its exit status. Their guardians connect to `listener`.
int run_root_of_started(const Launch& launch, const Secret& secret, os::FileDescriptor listener);

/// Thread rules: one thread. All signals are blocked.
class Root final : private Guardians, private HostEvents, private Timed {
 public:
  /// A root that starts the hosts by `agents`.
  Root(const Launch& launch, HostAgents& agents);
  /// A root that expects connections to `listener` from guardians that have `secret`.
  Root(const Launch& launch, const Secret& secret, os::FileDescriptor listener);
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  /// Runs the job and returns its exit status.
  int run();

 private:
  // Called by the coordinator.
  /// Not called: contributions do not come by the coordinator.
  void gathered(std::uint32_t, SharedBytes) override {}
  void absent(std::uint32_t rank, std::uint32_t sequence) override;
  void release(bool finalize) override;
  void end(const job::Ending& ending, Teardown teardown) override;
  void signal(int number) override;
  void observe(std::uint32_t interval_ms) override;
  void collect(std::uint32_t number, Collection what) override;
  // Called by the parts.
  bool handle_frame(std::uint32_t host, const job::Received& frame) override;
  void lose_host(std::uint32_t host, const std::string& why) override;

  Deadline next_deadline() const override;
  void meet_deadlines() override;

  Root(const Launch& launch, HostAgents* agents, const Secret& secret, os::FileDescriptor listener);

  bool prepare();
  bool output_done();
  void handle_connection(std::uint32_t number, os::FileDescriptor socket, const LinkKeys& keys);
  void handle_connected(std::uint32_t host);
  bool handle_events(std::uint32_t host, const job::Received& frame);
  bool handle_gather(std::uint32_t host, const job::Received& frame);
  void handle_observed(std::uint32_t host, const job::FrameHeader& header);
  bool handle_collected(std::uint32_t host, const job::Received& frame);
  void handle_lost(std::uint32_t host, const job::Received& frame);
  void take_over(std::uint32_t host, const std::string& why);
  void serve_reports();
  bool is_rank_here(pid_t process) const;
  void grant_error_report(std::uint32_t host);
  void receive_signals();
  void reap();
  void retire_host(std::uint32_t host, bool finished);

  const Launch& launch_;
  HostAgents* const agents_;  ///< null: another launcher starts the ranks
  const HostTree star_;       ///< of such ranks' hosts
  const HostTree& tree_;
  RootPlace place_{{}, Secret(Secret::Bytes{})};
  os::FileDescriptor listener_;  ///< until it is served
  RootHosts hosts_;
  EventLoop loop_;
  JobCoordinator job_;
  Gather gather_;
  Authentication authentication_;
  HostConnections connections_;
  os::FileDescriptor signals_;
  EventLoop::Watch signals_watch_;
  EventLoop::Watch output_watch_;
  std::vector<pid_t> spared_;  ///< children that this process had before

  std::optional<job::FrameHeader> absence_;  ///< the frame about the first rank that has left
  job::FrameHeader end_;                     ///< the frame about the end of the job
  std::optional<job::FrameHeader> observe_;  ///< the frame that makes hosts observe
  ReportPieces reports_;
  std::optional<ReportServer> report_server_;
  bool error_report_granted_ = false;
  int interrupts_ = 0;
  Deadline connect_limit_;
  Deadline abandon_output_at_;
};

}  // namespace gex::launch
