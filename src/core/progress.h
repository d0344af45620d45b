#pragma once
// Progress: who polls, and how one waits.
//
// core knows no messages. Rooms above register a `Poller` at start, each a function that makes what
// progress it can and returns whether it did anything. The first registered delivers messages and
// is called on every poll; the others only while somebody has work for them (`WantPolls`), so that
// an idle poll does not pay for them. A wait is: read the condition, poll, read it again, let
// others run; it never sleeps in the kernel.

#include <atomic>
#include <cstdint>

#include "base/spin.h"

namespace gex {

/// Makes progress; returns true if anything happened. Called from client context only.
using Poller = bool (*)() noexcept;

/// Lets polls notice the end of the job; start-up, once the job is joined.
void watch_job() noexcept;

/// Adds a poller; start-up only. The first one registered is the one of every poll.
void register_poller(Poller poller) noexcept;

namespace detail {
extern Poller primary_poller;
extern std::atomic<std::uint32_t> polls_wanted;
/// Not 0 once some rank has ended the job.
extern const std::atomic<std::uint64_t>* ending;
bool poll_others() noexcept;
[[noreturn]] void follow_ending() noexcept;
}  // namespace detail

/// Says that the other pollers have work from now on, and that they have none any more. Counted.
inline void want_polls() noexcept {
  detail::polls_wanted.fetch_add(1, std::memory_order_relaxed);
}
inline void unwant_polls() noexcept {
  detail::polls_wanted.fetch_sub(1, std::memory_order_relaxed);
}

/// One round of progress. Not in handlers.
inline bool poll() noexcept {
  bool progressed = detail::primary_poller();
  if (detail::polls_wanted.load(std::memory_order_relaxed) != 0) [[unlikely]]
    progressed |= detail::poll_others();
  if (detail::ending->load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::follow_ending();
  return progressed;
}

/// Polls until `done()`; the condition is read again after every poll.
template <class Done>
void wait_until(Done done) noexcept {
  if (done()) return;
  Waiter waiter;
  for (;;) {
    const bool progressed = poll();
    if (done()) return;
    if (progressed)
      waiter.reset();
    else
      waiter.wait();
  }
}

}  // namespace gex
