#pragma once
// Requests of clients that arrive while their endpoint's handlers may not run yet: gasnet_attach is
// still in its exchanges, and what its handlers use the client makes only after it. They are copied
// and keep their credits, which bounds them; the first poll after the attach delivers them
// (poll.h). The library's own messages are delivered.

#include <gasnetex.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "am/arrived.h"

namespace gex::am {

/// A message that was set aside, with copies of all that it refers to.
struct SetAsideMessage {
  Arrived arrived;
  std::uint32_t number;
  alignas(16) gex_AM_Arg_t args[max_args];
  std::unique_ptr<std::byte[]> payload;
};

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
bool set_aside(gex_EP_t endpoint, const Arrived& message, std::uint32_t number) noexcept;

/// Whether `take_set_aside` has any messages. Any thread.
bool any_set_aside_due() noexcept;
/// The messages that may be delivered now, in the order of their arrival: those of an endpoint
/// whose SetAside has ended. The caller runs their handlers. Any thread.
std::vector<std::unique_ptr<SetAsideMessage>> take_set_aside() noexcept;

}  // namespace gex::am
