#pragma once
// The token: what a running handler knows of its message, and how the reply finds its way.

#include <gasnetex.h>

#include <cstdint>

#include "shm/message.h"

namespace gex::am {
struct Incoming;
}

struct _gex_Token {
  gex::MessageHeader header;
  gex_EP_t endpoint = nullptr;
  gex::am::Incoming* ring = nullptr;  ///< where it came from; null: the network
  bool replied = false;
};
