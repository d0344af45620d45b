#pragma once
// Transfers that are given to the network part by part. An injection has `inject_next()`, which
// gives it the next part and returns false if there is no room for that now, and `whole()`.

#include "am/deferred_send.h"
#include "core/progress.h"

namespace gex::rma {

/// Injects parts while there is room; returns true once none is left.
template <class Injection>
bool inject_what_fits(Injection& injection) noexcept {
  while (!injection.whole())
    if (!injection.inject_next()) return false;
  return true;
}

/// Injects all parts, and waits for room, polling, as part of `op`.
template <class Injection>
void inject_waiting(Injection& injection, const Op& op) noexcept {
  while (!inject_what_fits(injection))
    wait_until([&]() noexcept { return op; }, [&]() noexcept { return injection.inject_next(); },
               WaitCause::room);
}

/// The remainder of an injection whose call must not wait for room: polls inject it.
template <class Injection>
struct DeferredInjection : am::DeferredSend {
  explicit DeferredInjection(const Injection& begun) noexcept : injection(begun) {}

  Injection injection;

  bool advance() noexcept override { return inject_what_fits(injection); }
};

}  // namespace gex::rma
