#pragma once
// The processes of this host's ranks: how they end, and signals to them.
//
// A rank's process is a child of the guardian, or an adopted one, which another launcher has
// started. The kernel reports the exit status of children; of adopted processes, and of a program
// that a wrapper has started, a pidfd reports the end only.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/os_file.h"
#include "launch/event_loop.h"
#include "launch/line_relay.h"
#include "launch/local/adopted_processes.h"
#include "launch/local/local_job.h"
#include "launch/local/memory_kills.h"

namespace gex::launch {

/// Thread rules: one thread, in which all signals are blocked.
class LocalProcesses final : public Timed {
 public:
  /// Reads the frames that a rank has sent before its process ended.
  using ReadLastFrames = std::function<void(std::uint32_t rank)>;

  /// Handles what the launcher sends about a signal that the terminal may have sent to it too.
  using AwaitLauncher = std::function<void()>;

  /// `relay` forwards the ranks' output.
  LocalProcesses(LocalJob& job, EventLoop& loop, const LineRelay& relay,
                 ReadLastFrames read_last_frames, AwaitLauncher await_launcher);

  /// While it exists, signals to the ranks are those that the terminal has already sent to the
  /// ranks of the launcher's process group, which do not get them again.
  class SentByTerminal {
   public:
    SentByTerminal(LocalProcesses& processes, bool sent) noexcept : processes_(processes) {
      processes_.sent_by_terminal_ = sent;
    }
    SentByTerminal(const SentByTerminal&) = delete;
    SentByTerminal& operator=(const SentByTerminal&) = delete;
    ~SentByTerminal() { processes_.sent_by_terminal_ = false; }

   private:
    LocalProcesses& processes_;
  };

  /// Handles exits of children, and signals to the guardian, from now on. Returns 0 or errno.
  int serve();

  /// `process` was started as the rank.
  void started(std::uint32_t rank, pid_t process) { job_.at(rank).process = process; }
  /// `process` has joined as the rank; it may be a descendant of the one that was started.
  void joined(std::uint32_t rank, pid_t process);
  /// Makes `process` the rank, whose end is watched from now on. If that is not possible, the rank
  /// is given up and the result is errno; ESRCH: it has ended already.
  int adopt(std::uint32_t rank, pid_t process);
  /// Records the adopted processes there as well.
  void record_adopted_in(AdoptedProcesses& adopted) { adopted_ = &adopted; }

  /// The connection of a rank that is to go on is closed. Usually its process is about to end; if
  /// it does not, the job ends.
  void connection_closed(std::uint32_t rank);
  /// The job ends: ranks need not explain their end any more.
  void stop_watching_for_losses();

  /// Signals the process group of each child, as a terminal would, and also its program if a
  /// wrapper (a debugger) runs it in another group; of adopted ranks the process only.
  void signal_ranks(int number);
  /// Sends SIGQUIT to ranks that catch it.
  void quit_ranks();
  /// Sends SIGTERM to ranks that have not begun to end.
  void terminate_ranks();
  /// Kills the ranks and all processes that they have left, and waits until the children are gone.
  void kill_ranks();

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  struct Process {
    os::FileDescriptor handle;  ///< a pidfd of the process that has joined, unless it is the child
    EventLoop::Watch watch;
    Deadline lost_at;  ///< by then the process that was started must end too
  };

  Process& at(std::uint32_t rank) noexcept { return processes_[job_.index_of(rank)]; }
  void receive_signals();
  void reap();
  void handle_reaped(pid_t process, int status);
  void handle_exit_status(std::uint32_t rank, int status);
  void handle_program_exit(std::uint32_t rank);
  void handle_adopted_exit(std::uint32_t rank);
  void finish(std::uint32_t rank);
  bool is_on_terminal(std::uint32_t index) const noexcept;
  void signal_rank(std::uint32_t index, int number);
  void fail_lost_rank(std::uint32_t rank);

  LocalJob& job_;
  EventLoop& loop_;
  const LineRelay& relay_;
  ReadLastFrames read_last_frames_;
  AwaitLauncher await_launcher_;
  bool sent_by_terminal_ = false;
  std::vector<Process> processes_;  ///< as LocalJob::ranks
  AdoptedProcesses* adopted_ = nullptr;
  MemoryKills memory_kills_;
  os::FileDescriptor signals_;
  EventLoop::Watch signals_watch_;
};

}  // namespace gex::launch
