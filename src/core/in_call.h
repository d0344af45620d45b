#pragma once
// The call of the interface that a thread is in.
//
// An entry point of the table of calls (restricted_calls.def) begins with
//
//   const InCall call(Call::put_blocking);
//
// which in checked mode applies the call's verdict, and notes until the end of the scope that the
// rank is in that call, and from then on that it has returned: the launcher says so of a rank that
// dies (boot/last_call.h). Elsewhere it costs two looks at a word that is never written.
//
// A set-up call is noted in every library. Where nothing else is, it is forgotten when it has
// returned, because what the rank called since then is not known.

#include "core/restricted.h"

namespace gex {

class InCall {
 public:
  enum Kind { operation, set_up };

  explicit InCall(Call call, Kind kind = operation) noexcept : call_(call), kind_(kind) {
    check_context(call);
    if (is_noted()) [[unlikely]]
      begin(call);
  }
  ~InCall() {
    if (is_noted()) [[unlikely]]
      finish(call_);
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

  operator Call() const noexcept { return call_; }

  /// From here on calls are noted, beginning with gex_Client_Init, which the caller is in. Once it
  /// is known whether calls are checked.
  static void note_from_start() noexcept;

 private:
  bool is_noted() const noexcept { return kind_ == set_up || checked(); }

  /// Not of the object, which therefore need not lie in memory.
  static void begin(Call call) noexcept;
  static void finish(Call call) noexcept;

  const Call call_;
  const Kind kind_;
};

}  // namespace gex
