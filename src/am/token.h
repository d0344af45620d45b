#pragma once
// The token: the message of a running handler, and the route of its reply.

#include <gasnetex.h>

#include <cstdint>

#include "am/message.h"

namespace gex::am {
struct Incoming;
}

struct _gex_Token {
  gex::MessageHeader header;
  bool may_reply;  ///< a request that has not been replied to
  gex_EP_t endpoint;
  gex::am::Incoming* ring;  ///< where it came from; null: the network, or this process
};
