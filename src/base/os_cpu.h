#pragma once
// Processors: how many there are, how many of them this job may use, and which one to run on.
//
// Functions that read /proc or /sys take the root of the file system as their last parameter, ""
// outside of tests. None is meant for a fast path but `current_core` and `yield`.

#include <cstdint>
#include <span>
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

/// How many physical cores these processors belong to.
std::uint32_t physical_core_count(const std::vector<std::uint32_t>& processors,
                                  const std::string& root = "");

/// Numbers of the processors this thread may run on, rising.
std::vector<std::uint32_t> affinity();

/// Numbers of the processors that the system would let this thread run on if it asked for all:
/// those of `affinity`, and those that were excluded there by binding (by a user, by another
/// launcher), not those that a control group excludes. Binds the thread to all of them for a
/// moment. Empty, with errno, if the system lets nothing be bound.
std::vector<std::uint32_t> bindable_cores();

/// A process may use so much of its host.
struct CoreShare {
  std::uint32_t first = 0;  ///< of the allowed processors the lowest,
  std::uint32_t last = 0;   ///< the highest,
  std::uint32_t count = 0;  ///< and how many they are
  /// Processors that may run at a time: the control group's time, rounded up; at least 1.
  std::uint32_t at_a_time = UINT32_MAX;
};

/// The calling thread's.
CoreShare core_share(const std::string& root = "");

/// How many processes of one host can run at the same time, each on its share; at least 1. Counts
/// processors twice that are in two shares which are not the same.
std::uint32_t usable_cores(std::span<const CoreShare> shares);

/// Binds the calling thread to these processors. Returns 0 or the error number.
int bind_to_cores(std::span<const std::uint32_t> cores) noexcept;

/// Binds the calling thread to one processor. Returns 0 or the error number.
int pin_to_core(std::uint32_t core) noexcept;

/// The processor that this thread runs on. A few instructions, no system call.
std::uint32_t current_core() noexcept;

/// Offers the core to another runnable thread and returns when the scheduler comes back to this
/// one: at once when there is no other.
void yield() noexcept;

/// Sleeps for so long, or until a signal. Not a cancellation point.
void nap(std::uint64_t nanoseconds) noexcept;

}  // namespace gex::os
