#pragma once
// Taking messages out of a ring of this host, and running their handlers.

#include "am/message.h"
#include "am/rings.h"

namespace gex::am {

/// Delivers what has arrived in a ring, up to a number of messages after which other rings have
/// their turn; nothing while another thread takes a message there. Whether anything was delivered.
bool deliver_from_ring(Incoming& in) noexcept;

/// Gives the slab of a message's payload back to its owner, once the handler has returned.
void release_slab(const MessageHeader& header, const Incoming& in) noexcept;

/// A look of the progress thread into a ring has one of these results.
enum class Found {
  nothing,   ///< or another thread takes a message there
  blocked,   ///< a message for a thread of the client, of which no more can be left to them now
  delivered  ///< or left to a thread of the client
};
/// Delivers the next message if it is the library's own, or leaves it to the client's threads. For
/// the progress thread.
Found serve_message(Incoming& in) noexcept;

}  // namespace gex::am
