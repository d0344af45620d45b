#pragma once
// Messages that have been taken from their way, but whose handlers may not run yet. They are
// copied, and a later poll delivers them (poll.h). There are two reasons:
//
//  - A request of a client arrives while its endpoint's handlers may not run: gasnet_attach is
//    exchanging still, and what its handlers use the client makes only after it. Such messages keep
//    their credits, which bounds them. The library's own messages are delivered.
//  - The progress thread has found a message whose handler is the client's before one that it is to
//    deliver (serve.h). Any thread of the client delivers it. There are so many of them at most.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/arrived.h"

namespace gex::am {

/// A message that was set aside, with copies of all that it refers to, but for a payload in a slab
/// where that is kept.
struct SetAsideMessage {
  SetAsideMessage(const Arrived& message, std::uint32_t message_number, bool keeps_slab_in_use);

  Arrived arrived;
  std::uint32_t number;
  bool keeps_slab;  ///< which is given back after the handler
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

/// How many more messages may be left to the client's threads now. For the progress thread.
std::size_t room_to_leave() noexcept;
/// Leaves a copy of a message to the client's threads. By the progress thread, if there is room.
void leave_to_client(const Arrived& message, std::uint32_t number) noexcept;

/// Returns true if `take_set_aside` has any messages. Any thread.
bool any_set_aside_due() noexcept;
/// The messages that may be delivered now, in the order of their arrival: those left to the
/// client's threads, and those of an endpoint whose SetAside has ended. The caller runs their
/// handlers. Any thread of the client.
std::vector<std::unique_ptr<SetAsideMessage>> take_set_aside() noexcept;

}  // namespace gex::am
