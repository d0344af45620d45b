#pragma once
// Ranks that another launcher has started (job/foreign.h): they connect to the guardian, which
// adopts them.
//
// The guardian can detect that an adopted rank has ended, though not how, and it can signal the
// ranks only, not the processes that they have started.

#include <sys/types.h>

#include <vector>

#include "base/os_file.h"
#include "launch/channel.h"
#include "launch/event_loop.h"
#include "launch/local/control_server.h"
#include "launch/local/local_job.h"
#include "launch/local/local_processes.h"
#include "launch/local/rank_teardown.h"

namespace gex::launch {

/// Thread rules: one thread.
class Adoption final : public Timed {
 public:
  Adoption(LocalJob& job, EventLoop& loop, LocalProcesses& processes, ControlServer& control,
           RankTeardown& teardown);

  /// Accepts ranks from now on, and watches their launcher.
  void serve();
  /// The job ends: ranks that are still connecting get the `ending` frame too, if they connect
  /// soon.
  void shorten();

  Deadline next_deadline() const override { return join_deadline_; }
  void meet_deadlines() override;

 private:
  /// A connection whose process has not identified itself as a rank yet.
  struct PendingConnection {
    Channel channel;
    pid_t process = 0;
    EventLoop::Watch watch;
  };

  void accept_connections();
  void handle_pending_connection(int socket);
  void adopt(std::uint32_t rank, PendingConnection connection);
  void handle_launcher_exit();
  void handle_join_timeout();
  void give_up_missing_ranks();
  void stop_listening();

  LocalJob& job_;
  EventLoop& loop_;
  LocalProcesses& processes_;
  ControlServer& control_;
  RankTeardown& teardown_;
  os::FileDescriptor launcher_;  ///< its pidfd
  EventLoop::Watch launcher_watch_;
  EventLoop::Watch listener_watch_;
  job::FrameBuffer frame_;
  std::vector<PendingConnection> pending_connections_;
  Deadline join_deadline_;  ///< all ranks must have joined by then
  bool refused_user_reported_ = false;
  bool refused_connection_reported_ = false;
};

}  // namespace gex::launch
