#pragma once
// The call of the interface that a thread is in.
//
// An entry point of the table of calls (restricted_calls.def) begins with
//
//   const InCall call(Call::put_blocking);
//
// which in checked mode applies the call's verdict, and notes until the end of the scope that the
// rank is in that call, and from then on that it has returned: the launcher says so of a rank that
// dies (job/last_call.h). In a traced job it records the call (trace.h), with what it returns if
// it says so:
//
//   return call.returns(start_put(...));
//
// Elsewhere it costs two looks at a word that is never written. A call whose own work takes a few
// nanoseconds is compiled twice, with an InCall where calls are observed and with an
// UnobservedCall, which is nothing, where they are not, so that it looks at that word once:
//
//   return in_call(Call::put_nb, [=](auto& call) noexcept {
//     if (call.is_checked()) check(...);
//     return call.returns(start_put(...));
//   });
//
// A set-up call is noted in every library. Where nothing else is, it is forgotten when it has
// returned, because what the rank called since then is not known.

#include <gasnetex.h>

#include <cstddef>

#include "core/observed.h"
#include "core/restricted.h"
#include "core/trace.h"

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

  /// The peer and the payload of the call. May be said again.
  static void transfers(gex_Rank_t jobrank, std::size_t bytes) noexcept {
    trace::transfer(jobrank, bytes);
  }
  /// What comes of the call: the event of an operation in flight, or GEX_EVENT_NO_OP of an
  /// immediate one that found no room.
  gex_Event_t returns(gex_Event_t event) noexcept {
    result_.event = event;
    return event;
  }
  /// The same of one without an event: not 0 if it found no room.
  int returns(int refused) noexcept {
    result_.refused = refused != 0;
    return refused;
  }
  /// The event that the call waits for, or tests.
  void concerns(gex_Event_t event) noexcept { result_.event = event; }
  /// Whether what the call asks for has happened.
  int answers(int error) noexcept {
    result_.not_ready = error == GASNET_ERR_NOT_READY;
    return error;
  }

  /// From here on calls are noted, beginning with gex_Client_Init, which the caller is in. Once it
  /// is known whether calls are checked.
  static void note_from_start() noexcept;
  /// Shows the names of all calls, for reports that know them by number; once it is known whether
  /// the client uses GASNet-1.
  static void name_calls() noexcept;

 private:
  struct Result {
    gex_Event_t event = GEX_EVENT_INVALID;
    bool refused = false;
    bool not_ready = false;
  };

  bool is_noted() const noexcept { return kind_ == set_up || observed(); }

  /// Not of the object, which therefore need not lie in memory.
  static void begin(Call call, Kind kind) noexcept;
  static void finish(Call call, Kind kind, Result result) noexcept;

  const Call call_;
  const Kind kind_;
  Result result_;
};

/// What stands for the InCall of an operation where calls are not observed.
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
[[gnu::noinline]] auto in_observed_call(Call which, Body body) noexcept {
  InCall call(which);
  return body(call);
}
}  // namespace detail

/// Runs `body(call)` as an operation's call. The body captures by value: it is copied where the
/// call is observed, and must not have an address where it is not.
template <class Body>
[[gnu::always_inline]] inline auto in_call(Call which, Body body) noexcept {
  if (observed()) [[unlikely]]
    return detail::in_observed_call(which, body);
  UnobservedCall call(which);
  return body(call);
}

}  // namespace gex
