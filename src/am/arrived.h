#pragma once
// An arrived message, over whatever transport: what delivery reads of it.

#include <gasnetex.h>

#include <cstddef>

#include "am/message.h"
#include "am/token.h"

namespace gex::am {

/// The number that a transport gives a message, over a network modulo 2^12, for traces.
/// `not_counted`: it is part of another message.
inline constexpr std::uint32_t not_counted = ~0U;

/// The number of a message of this host in a trace: each lane counts its own.
constexpr std::uint64_t number_in_lane(std::uint32_t lane, std::uint32_t number) noexcept {
  return std::uint64_t{lane} << 32 | number;
}

/// An arrived message, its arguments and payload where the handler may read them.
struct Arrived {
  MessageHeader header;
  const gex_AM_Arg_t* args;
  void* payload;     ///< medium: aligned to 16; long: the destination
  std::size_t size;  ///< payload bytes
  Incoming* ring;    ///< null: the network, or this process
};

}  // namespace gex::am
