#pragma once
// Progress: who polls, and how one waits.
//
// core knows no messages. Rooms above register a `Poller` at start, each a function that makes what
// progress it can and returns whether it did anything. A wait is: read the condition, poll, read it
// again, let others run; it never sleeps in the kernel.

#include <cstdint>

#include "base/spin.h"

namespace gex {

/// Makes progress; returns true if anything happened. Called from client context only.
using Poller = bool (*)() noexcept;

/// Adds a poller; start-up only. The first one registered is called first.
void register_poller(Poller poller) noexcept;

/// One round of progress. Not in handlers.
bool poll() noexcept;

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
