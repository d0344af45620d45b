#pragma once
// When idle polls become calls.
//
// Over shared memory with a core for each rank an idle poll is inline and counts nothing, so a
// client's own loop of polls does not come to sleep (base/patience.h). That is fastest until other
// programs take the core. A thread whose polls find messages looks from time to time how much of
// the time it ran: if others had its core, all polls of the process are calls for a while.
//
// Thread rules: any thread.

#include <cstdint>

#include "base/clock.h"
#include "base/os_thread_usage.h"

namespace gex {

namespace detail {
extern constinit thread_local std::uint32_t busy_polls __attribute__((tls_model("initial-exec")));
[[gnu::cold]] void look_for_lost_core() noexcept;

/// How much a thread had run at a moment.
struct UsageLook {
  Tick at = 0;  ///< 0: there was no look
  os::ThreadUsage usage{};
};
/// Returns true if others had the core for much of the time from one look to the next, in which the
/// thread did not sleep.
bool has_lost_core(const UsageLook& before, const UsageLook& now) noexcept;
}  // namespace detail

/// A poll that was a call has found something.
inline void count_busy_poll() noexcept {
  constexpr std::uint32_t per_look = 256;
  if (++detail::busy_polls % per_look == 0) [[unlikely]]
    detail::look_for_lost_core();
}

}  // namespace gex
