#pragma once
// What a process knows of its job; shared by the files that implement `Job`.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/os_file.h"
#include "boot/job_page.h"
#include "boot/last_call.h"
#include "boot/origin.h"
#include "boot/process_manager.h"
#include "boot/protocol.h"

namespace gex::boot {

struct RankState {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  Origin origin = Origin::singleton;
  bool nested = false;               ///< a job of one that a process of another job has started
  std::vector<std::uint32_t> hosts;  ///< the number of each rank's host
  os::FileDescriptor control;        ///< none in a job of one
  JobPage page;
  LastCall* last_call = nullptr;            ///< in the page
  std::unique_ptr<ProcessManager> manager;  ///< of a foreign launcher
  FrameBuffer frame;
  std::uint32_t sequence = 0;  ///< of the next exchange
  /// The process that joined: a child that the client forks is not the rank.
  pid_t process = 0;
  std::atomic<void (*)(bool serve) noexcept> idle_poll{nullptr};
  std::atomic<bool> returned{false};  ///< has told the guardian that it left by exit
  std::atomic<bool> ends{false};      ///< has told the guardian that it left and ends the job
  /// The thread that is inside `end`, 0 while none is.
  std::atomic<pid_t> ending_thread{0};
};

/// Set once by `join`, never destroyed: exit handlers and signal handlers use it to the last.
extern std::atomic<RankState*> rank_state;

/// Tells the guardian that this rank ends the job, or follows who does. Async-signal-safe.
void announce_end(RankState& state, int code) noexcept;

/// Registers what exit() does to the job.
void install_exit_handler();

/// Tells a foreign launcher that this process ends as it should.
void leave_launcher(RankState& state) noexcept;

/// Writes out all streams of this process.
void flush_streams() noexcept;

}  // namespace gex::boot
