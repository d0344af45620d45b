#pragma once
// The state of a rank, shared by the files that implement `Job`.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/os_file.h"
#include "job/job_page.h"
#include "job/last_call.h"
#include "job/origin.h"
#include "job/process_manager.h"
#include "job/protocol.h"
#include "job/rank_numbers.h"

namespace gex::job {

struct RankState {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  Origin origin = Origin::singleton;
  bool nested = false;         ///< a job of one rank that a process of another job has started
  RankNumbers hosts;           ///< of each rank's host
  os::FileDescriptor control;  ///< empty in a job of one rank
  JobPage page;
  LastCall* last_call = nullptr;            ///< in the page
  std::unique_ptr<ProcessManager> manager;  ///< of a foreign launcher; otherwise null
  FrameBuffer frame;
  std::uint32_t sequence = 0;  ///< of the next exchange
  StartCounts counts;
  /// The process that has joined, to distinguish it from children that the client forks.
  pid_t process = 0;
  std::atomic<void (*)(bool serve) noexcept> idle_poll{nullptr};
  std::atomic<std::uint32_t> ranks_per_core{1};  ///< of this host, at least 1
  std::atomic<bool> returned{false};  ///< has sent `leave` for exit or a return from main
  std::atomic<bool> ends{false};      ///< has sent `leave` with a departure that ends the job
  /// A thread has called `end` or `end_at_once`, or SIGQUIT is raised.
  std::atomic<bool> is_ending{false};
  /// The thread that is inside `end`, or 0.
  std::atomic<pid_t> ending_thread{0};
};

/// Set once by `join`, never destroyed: exit handlers and signal handlers use it.
extern std::atomic<RankState*> rank_state;

/// Announces to the guardian that this rank ends the job, or ends with it. Async-signal-safe.
void announce_end(RankState& state, int code) noexcept;

/// Registers the exit handler.
void install_exit_handler();

/// Finalizes the connection to a foreign launcher.
void leave_launcher(RankState& state) noexcept;

/// Flushes all streams of this process.
void flush_streams() noexcept;

}  // namespace gex::job
