#pragma once
// Signals that end a process because of a mistake in it: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.

namespace gex::os {

/// From now on a line names such a signal, and `report` runs, before it ends the process as before.
/// Signals that the process does not leave at their default are left alone. `report` runs in the
/// signal handler; after an overflow of the stack only in the calling thread, which gets a stack
/// for handlers unless it has one.
void report_fatal_signals(void (*report)() noexcept) noexcept;

}  // namespace gex::os
