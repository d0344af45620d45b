#pragma once
// The call of the interface that a thread is in.
//
// An entry point of the table of calls (restricted_calls.def) begins with
//
//   const InCall call(Call::put_blocking);
//
// which in checked mode checks that the call is legal there (restricted.h), and notes until the end
// of the scope that the rank is in that call, and from then on that it has returned: the launcher
// reports that of a rank that dies (job/last_call.h). In a traced job it records the call
// (trace.h), with its result if that is passed to it:
//
//   return call.returns(start_put(...));
//
// Elsewhere it costs two reads of a word that is never written. A call whose own work takes a few
// nanoseconds is compiled twice, with an InCall where calls are observed and with an
// UnobservedCall, which does nothing, where they are not, so that it reads that word once:
//
//   return in_call(Call::put_nb, [=](auto& call) noexcept {
//     if (call.is_checked()) check(...);
//     return call.returns(start_put(...));
//   });
//
// The body of a wait in which a cancelled thread ends is not noexcept. A set-up call is never left
// so, and is noted in every library. Where no other calls are noted, it is forgotten when it
// has returned, because what the rank called since then is not known.

#include <gasnetex.h>

#include <cstddef>
#include <utility>

#include "base/cancellation.h"
#include "core/observed.h"
#include "observe/restricted.h"
#include "observe/trace.h"

namespace gex {

class InCall {
 public:
  enum Kind { operation, set_up };

  explicit InCall(Call call, Kind kind = operation) noexcept : call_(call), kind_(kind) {
    if (is_noted()) [[unlikely]]
      begin(call, kind);
  }
  ~InCall() {
    if (is_noted()) [[unlikely]]
      finish(call_, kind_, result_);
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

  operator Call() const noexcept { return call_; }
  static bool is_checked() noexcept { return checked(); }

  /// The peer and the payload of the call. May be called again.
  static void transfers(gex_Rank_t jobrank, std::size_t bytes) noexcept {
    trace::transfer(jobrank, bytes);
  }
  /// The call's result: the event of an operation in flight, or GEX_EVENT_NO_OP of an immediate
  /// operation that found no room.
  gex_Event_t returns(gex_Event_t event) noexcept {
    result_.event = event;
    return event;
  }
  /// The result of a call without an event: not 0 if its operation found no room.
  int returns(int refused) noexcept {
    result_.refused = refused != 0;
    return refused;
  }
  /// The event that the call waits for, or tests.
  void concerns(gex_Event_t event) noexcept { result_.event = event; }
  /// The result of a test: GASNET_ERR_NOT_READY if what it tests is incomplete.
  int answers(int error) noexcept {
    result_.not_ready = error == GASNET_ERR_NOT_READY;
    return error;
  }

  /// From here on calls are noted, beginning with gex_Client_Init, which the caller is in. Called
  /// once it is known whether calls are checked.
  static void note_from_start() noexcept;
  /// Publishes the names of all calls, for reports that have their numbers; called once it is known
  /// whether the client uses GASNet-1.
  static void name_calls() noexcept;

 private:
  struct Result {
    gex_Event_t event = GEX_EVENT_INVALID;
    bool refused = false;
    bool not_ready = false;
  };

  bool is_noted() const noexcept { return kind_ == set_up || observed(); }

  /// Static: the object need not lie in memory.
  static void begin(Call call, Kind kind) noexcept;
  static void finish(Call call, Kind kind, Result result) noexcept;

  const Call call_;
  const Kind kind_;
  const CancellationDisabled uncancelled_{kind_ == set_up};
  Result result_;
};

/// Replaces the InCall of an operation where calls are not observed.
class UnobservedCall {
 public:
  explicit constexpr UnobservedCall(Call call) noexcept : call_(call) {}

  constexpr operator Call() const noexcept { return call_; }
  static constexpr bool is_checked() noexcept { return false; }
  static constexpr void transfers(gex_Rank_t, std::size_t) noexcept {}
  static constexpr gex_Event_t returns(gex_Event_t event) noexcept { return event; }
  static constexpr int returns(int refused) noexcept { return refused; }
  static constexpr void concerns(gex_Event_t) noexcept {}
  static constexpr int answers(int error) noexcept { return error; }

 private:
  const Call call_;
};

namespace detail {
template <class Body>
[[gnu::noinline]] auto in_observed_call(Call which, Body body) noexcept(
    noexcept(body(std::declval<InCall&>()))) {
  InCall call(which);
  return body(call);
}
}  // namespace detail

/// Runs `body(call)` as an operation's call. The body captures by value: it is copied where the
/// call is observed, and must not have an address where it is not.
template <class Body>
[[gnu::always_inline]] inline auto in_call(Call which, Body body) noexcept(
    noexcept(body(std::declval<InCall&>()))) {
  if (observed()) [[unlikely]]
    return detail::in_observed_call(which, body);
  UnobservedCall call(which);
  return body(call);
}

}  // namespace gex
