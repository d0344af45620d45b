#pragma once
// The terminal that a job was started from: what of a launcher's output it is, and detaching a
// process from it.

#include <sys/types.h>

#include <cstdint>

namespace gex::launch {

/// Which of a launcher's output streams are a terminal.
struct OutputTerminals {
  bool output = false;
  bool error = false;
  bool same = false;  ///< both are one terminal
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

/// Returns the terminals of this process.
OutputTerminals output_terminals() noexcept;

/// The process group of this process if standard input is the terminal that controls it, else 0.
/// A process of that group reads the terminal as a shell's user expects: in the foreground it gets
/// what is typed, in the background it is stopped.
pid_t group_on_terminal() noexcept;

/// Detaches this process, and the processes that it will start, from the terminal: it gets a
/// process group of its own, so that it gets no interrupts from the terminal, and no controlling
/// terminal, so that reads do not stop it and /dev/tty does not exist.
///
/// It does not use a session of its own, which would do the same: Linux schedules sessions as
/// groups (sched_autogroup_enabled), and with more ranks than processors one group can get none for
/// seconds while the ranks of another wait for it (observed on 6.18: collectives of five ranks took
/// up to 12.8 s in two sessions, 0.7 s in one). All processes of a job on a host therefore share a
/// session, unless the terminal cannot be left otherwise.
///
/// Requires that this process leads no session: otherwise the whole session would lose the
/// terminal.
void leave_terminal() noexcept;

}  // namespace gex::launch
