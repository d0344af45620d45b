#pragma once
// Requests of clients that arrive while their endpoint's handlers may not run yet: gasnet_attach is
// still in its exchanges, and what its handlers use the client makes only after it. They are copied
// and keep their credits, which bounds them; the first poll after the attach runs them. The
// library's own messages pass.

#include <gasnetex.h>

namespace gex::am {

struct Arrived;

/// While one exists, requests to that endpoint are set aside if their handler has no function. One
/// at a time in a process; client context.
class SetAside {
 public:
  explicit SetAside(gex_EP_t endpoint) noexcept;
  /// From here on polls deliver what was set aside.
  ~SetAside();
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;
};

/// Keeps a copy of a message that came for the endpoint; false if none is set aside there now. Any
/// thread.
bool set_aside(gex_EP_t endpoint, const Arrived& message) noexcept;

/// Runs the handlers of what was set aside, if that time is over; true if there was anything.
/// Client context.
bool deliver_set_aside() noexcept;

}  // namespace gex::am
