#pragma once
// Signals that end a process because of a mistake in it: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT.

#include <cstdint>

namespace gex::os {

/// From now on a line names such a signal, and `report` runs, before it ends the process as before.
/// Signals that the process does not leave at their default are left alone. `report` runs in the
/// signal handler; after an overflow of the stack only in the calling thread, which gets a stack
/// for handlers unless it has one.
void report_fatal_signals(void (*report)() noexcept) noexcept;

/// From now on `explain` is called with the address of a fault (SIGSEGV), in the signal handler and
/// before anything else that happens then. Where the processor gives none, with each value in a
/// register that is no valid address. The signal is left alone unless it is at its default, or
/// reported already.
void explain_faults(void (*explain)(std::uintptr_t address) noexcept) noexcept;

}  // namespace gex::os
