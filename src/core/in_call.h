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
// Elsewhere it costs two looks at a word that is never written.
//
// A set-up call is noted in every library. Where nothing else is, it is forgotten when it has
// returned, because what the rank called since then is not known.

#include <gasnetex.h>

#include "core/observed.h"
#include "core/restricted.h"

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

}  // namespace gex
