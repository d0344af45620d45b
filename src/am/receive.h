#pragma once
// Taking messages out of a ring of this host, and running their handlers.

#include "am/rings.h"

namespace gex::am {

/// Delivers what has arrived in a ring, up to a number of messages after which other rings have
/// their turn; nothing while another thread takes a message there. Whether anything was delivered.
bool take_messages(Incoming& in) noexcept;

}  // namespace gex::am
