#pragma once
// Help for whoever looks at a process that failed: a backtrace, and waiting for a debugger.

namespace gex::os {

/// Writes the calling thread's stack, one frame a line, to `descriptor`. Returns 0, or -1 when no
/// frame could be found. Frames of functions that are not exported show as file and offset, for
/// addr2line. Safe in signal handlers once `prepare_backtrace` has run in the process.
int print_backtrace(int descriptor) noexcept;

/// Loads what the first backtrace would load, so that a later one allocates nothing.
void prepare_backtrace() noexcept;

/// Says on standard error how to attach a debugger and set `*flag`, which the user knows as
/// `flag_name`, to 0; returns when it is. Never spins: the process sleeps meanwhile.
void freeze(volatile int* flag, const char* flag_name) noexcept;

/// Puts another function in the place of a backtrace at errors: it looks at GASNET_BACKTRACE
/// itself. The interface to clients does this at load, because a program may bring its own
/// backtraces.
void set_error_backtrace(int (*print)(int descriptor)) noexcept;

/// What `fatal` does between its line and the end of the job: a backtrace under GASNET_BACKTRACE=1,
/// a freeze under GASNET_FREEZE_ON_ERROR=1. Values that are no booleans count as 0 here: this is no
/// place to fail again.
void on_error() noexcept;

}  // namespace gex::os
