#pragma once
// Delivery: from an arrived message to its handler.

#include <gasnetex.h>

#include <cstddef>

#include "am/token.h"

namespace gex::am {

/// An arrived message, its arguments and payload where the handler may read them.
struct Arrived {
  MessageHeader header;
  const gex_AM_Arg_t* args;
  void* payload;     ///< medium: aligned to 16; long: the destination
  std::size_t size;  ///< payload bytes
  Incoming* ring;    ///< null: the network
};

/// Runs the handler. Returns whether a request was left without a reply.
bool run_handler(const Arrived& message) noexcept;

}  // namespace gex::am
