#pragma once
// Backtraces for hang reports: where the job's progress is watched, a signal makes the thread that
// gets it show its stack in the rank's status, for the guardian (job/rank_status.h).

namespace gex {

/// Start-up only. Takes a real-time signal that the process has left at its default; if there is
/// none the rank shows no stacks.
void accept_backtrace_signal() noexcept;

}  // namespace gex
