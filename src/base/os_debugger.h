#pragma once
// Help for debugging a process that failed: a backtrace, and waiting for a debugger.

namespace gex::os {

/// Writes the calling thread's stack, one frame a line, to `descriptor`. Returns 0, or -1 when no
/// frame could be found. Frames of functions that are not exported show as file and offset, for
/// addr2line. Safe in signal handlers once `prepare_backtrace` has run in the process.
/// In a signal handler, `interrupted` is where the signal has interrupted the thread, and the stack
/// begins there; null: where `begin_backtraces_at` has set it, or here.
int print_backtrace(int descriptor, const void* interrupted = nullptr) noexcept;

/// For the handler of a fatal signal: backtraces of the interrupted thread begin where the signal
/// has interrupted it, without the frames of the handler.
void begin_backtraces_at(const void* interrupted) noexcept;

/// Where a thread has been interrupted: of the third argument of a handler with SA_SIGINFO. Null on
/// processors that are not known here.
const void* interrupted_at(const void* context) noexcept;

/// Loads what the first backtrace would load, so that a later one allocates nothing.
void prepare_backtrace() noexcept;

/// Prints on standard error how to attach a debugger and set `*flag`, whose symbol is `flag_name`,
/// to 0; returns when it is. Never spins: the process sleeps meanwhile.
void freeze(volatile int* flag, const char* flag_name) noexcept;

}  // namespace gex::os
