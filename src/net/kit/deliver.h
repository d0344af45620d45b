#pragma once
// Handing an arrived message up from wherever a library has put it.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/kit/stamp.h"

namespace gex::net {

/// Hands up a message of at most `max_size` bytes: where it lies if that is aligned as a message
/// must be, otherwise from a copy.
template <std::size_t max_size>
void deliver_from_anywhere(const Host& host, std::uint32_t source, Channel channel,
                           const std::byte* message, std::size_t size) {
  if (reinterpret_cast<std::uintptr_t>(message) % message_alignment == 0) [[likely]] {
    host.deliver(source, channel, message, size);
    return;
  }
  alignas(message_alignment) std::byte aligned[max_size];
  std::memcpy(aligned, message, size);
  host.deliver(source, channel, aligned, size);
}

}  // namespace gex::net
