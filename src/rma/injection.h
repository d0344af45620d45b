#pragma once
// Transfers that are injected part by part. An injection has
//
//   inject_next()  injects the next part; false: there is no room for it now
//   has_begun()    true once a part was injected
//   is_whole()     true once all were
//   op()           what waits for room

#include <cstddef>
#include <memory>

#include "am/deferred_send.h"
#include "core/progress.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// An injection of a contiguous transfer, but for its `inject_next`.
struct ContiguousInjection {
  ResolvedTransfer transfer;
  bool put;
  CompletionTarget done;
  std::size_t injected = 0;  ///< bytes

  bool has_begun() const noexcept { return injected != 0; }
  bool is_whole() const noexcept { return injected == transfer.size; }
  Op op() const noexcept { return transfer.as(put ? OpKind::put : OpKind::get); }
};

/// Injects parts while there is room; returns true once none is left.
template <class Injection>
bool inject_what_fits(Injection& injection) noexcept {
  while (!injection.is_whole())
    if (!injection.inject_next()) return false;
  return true;
}

/// The remainder of an injection whose call must not wait for room: polls inject it.
template <class Injection>
struct DeferredInjection : am::DeferredSend {
  explicit DeferredInjection(const Injection& begun) : injection(begun) {}

  Injection injection;

  bool advance() noexcept override { return inject_what_fits(injection); }
};

/// Injects all parts, and waits for room, polling. If `immediate`, does not wait: returns false if
/// the first found no room, and leaves the parts that find none after it to polls, as a `Deferred`.
template <class Deferred, class Injection>
bool inject_all(Injection& injection, bool immediate) noexcept {
  while (!inject_what_fits(injection)) {
    if (immediate && !injection.has_begun()) return false;
    if (immediate) {
      am::defer(std::make_unique<Deferred>(injection));
      return true;
    }
    wait_until([&]() noexcept { return injection.op(); },
               [&]() noexcept { return injection.inject_next(); }, WaitCause::room);
  }
  return true;
}

}  // namespace gex::rma
