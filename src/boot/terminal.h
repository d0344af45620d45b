#pragma once
// The terminal from which a job was started.

namespace gex::boot {

/// Puts this process, and what it starts from now on, out of reach of the terminal: in a process
/// group of its own, so that no interrupt comes from it, and without it as controlling terminal, so
/// that nobody is stopped for reading it and /dev/tty is none.
///
/// No session of its own, which would do the same: Linux schedules sessions as groups
/// (sched_autogroup_enabled), and with more ranks than processors one group can get none for
/// seconds while the ranks of another wait for it (seen on 6.18). All that a job starts on a host
/// belongs to one, but where the terminal cannot be left otherwise.
///
/// For processes that lead no session: who does would take the terminal from all of it.
void leave_terminal() noexcept;

}  // namespace gex::boot
