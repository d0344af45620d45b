#pragma once
// The few calls about this process and its output that the rest of base needs.
//
// Unless noted otherwise everything here is async-signal-safe, and may be called from any thread.

#include <cstddef>
#include <cstdint>

namespace gex::os {

/// Writes everything, in one write(2) unless the kernel takes less. Returns 0 or the error number.
/// A descriptor in non-blocking mode that stays full for a second is given up on (EAGAIN).
int write_fully(int descriptor, const char* bytes, std::size_t count) noexcept;

int process_id() noexcept;

/// When this process began, in the kernel's ticks since it was started: with `process_id` it
/// identifies the process among all, before and after. 0 when /proc is not mounted. Not
/// async-signal-safe.
std::uint64_t process_start();

/// The kernel's number of the calling thread.
int thread_id() noexcept;

/// Returns true if the program was linked with -static. It has no loader then: a library that it
/// opens brings a second C library, without what the first has set up. Not async-signal-safe.
bool is_linked_static() noexcept;

/// The exit status, of eight bits, of a process that ends with `code`: one that is not 0 never
/// becomes a success.
constexpr int exit_status(int code) noexcept {
  const int status = code & 0xff;
  return code != 0 && status == 0 ? 1 : status;
}

/// Ends the process at once: no stream is flushed, no exit handler runs.
[[noreturn]] void exit_at_once(int code) noexcept;

}  // namespace gex::os
