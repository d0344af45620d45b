#pragma once
// Processors: how many there are, how many of them this job may use, and which one to run on.
//
// Functions that read /proc or /sys take the root of the file system as their last parameter, ""
// outside of tests. None is meant for a fast path but `current_core` and `yield`.

#include <cstdint>
#include <string>
#include <vector>

namespace gex::os {

/// Processors online in this host.
std::uint32_t cpu_count() noexcept;

/// Numbers of the processors this thread may run on, in the order in which ranks should be bound to
/// them (`binding_order`).
std::vector<std::uint32_t> allowed_cores();

/// Orders processors so that one hardware thread of every physical core comes first, then the
/// second ones, and so on; otherwise as they were.
std::vector<std::uint32_t> binding_order(const std::vector<std::uint32_t>& cores,
                                         const std::string& root = "");

/// How many ranks can run at the same time: the smaller of the allowed processors and the control
/// group's processor time, rounded up; at least 1.
std::uint32_t usable_cores(const std::string& root = "");

/// Binds the calling thread to one processor. Returns 0 or the error number.
int pin_to_core(std::uint32_t core) noexcept;

/// The processor that this thread runs on. A few instructions, no system call.
std::uint32_t current_core() noexcept;

/// Offers the core to another runnable thread and returns when the scheduler comes back to this
/// one: at once when there is no other.
void yield() noexcept;

}  // namespace gex::os
