#pragma once
// Sleeping until a word changes, in memory that processes may share (futex).

#include <atomic>
#include <cstdint>

namespace gex::os {

/// Sleeps while the word is `value`, until `wake_waiters` or a signal; at most `limit_ns`, 0:
/// without a limit. May return for nothing. Orders no memory.
void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::uint64_t limit_ns) noexcept;

/// Wakes those that sleep on the word, in any process.
void wake_waiters(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace gex::os
