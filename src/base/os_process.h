#pragma once
// The few calls about this process and its output that the rest of base needs.
//
// Everything here is async-signal-safe, and may be called from any thread.

#include <cstddef>

namespace gex::os {

/// Writes everything, in one write(2) unless the kernel takes less. Returns 0 or the error number.
/// A descriptor in non-blocking mode that stays full for a second is given up on (EAGAIN).
int write_fully(int descriptor, const char* bytes, std::size_t count) noexcept;

int process_id() noexcept;

/// The kernel's number of the calling thread.
int thread_id() noexcept;

/// Ends the process at once: no stream is flushed, no exit handler runs.
[[noreturn]] void exit_at_once(int code) noexcept;

}  // namespace gex::os
