#pragma once
// How soon a thread that is woken gets a processor on which another one computes.
//
// Linux (6.12 and later) lets a woken thread take the place of one that has had no more than its
// share only if its own time slice is the shorter one. A thread that is about to sleep until
// another one has something for it asks for a short slice, and for the usual one when it spins
// again, as others then are to take its place. Its share of the processor stays as it is.
//
// Elsewhere, and for threads of other scheduling classes, nothing happens.

#include <cstdint>

namespace gex::os {

namespace detail {
/// Nanoseconds of the calling thread's usual slice, while it has a short one; else 0.
extern constinit thread_local std::uint64_t usual_slice_ns
    __attribute__((tls_model("initial-exec")));
void ask_for_short_slice() noexcept;
[[gnu::cold]] void ask_for_usual_slice() noexcept;
}  // namespace detail

/// The calling thread has a short slice from now on: two system calls of 2 us together, unless it
/// has one already.
inline void shorten_time_slice() noexcept {
  if (detail::usual_slice_ns == 0) detail::ask_for_short_slice();
}

/// It has the one again that it had before. As much.
inline void restore_time_slice() noexcept {
  if (detail::usual_slice_ns != 0) [[unlikely]]
    detail::ask_for_usual_slice();
}

}  // namespace gex::os
