#pragma once
// An active message on its way out, and the two ways to send one.
//
// Routing is decided here once: a process of the neighborhood is reached through its ring, any
// other through the conduit.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "shm/message.h"

namespace gex::am {

struct Outbound {
  std::uint8_t handler = 0;
  Category category = Category::short_message;
  bool reply = false;
  std::uint8_t arg_count = 0;
  std::uint16_t endpoints = 0;         ///< MessageHeader::make_endpoints
  const gex_AM_Arg_t* args = nullptr;  ///< padded to whole 16-byte chunks, aligned to 16
  const void* payload = nullptr;
  std::size_t size = 0;
  void* destination = nullptr;   ///< of a long message, in its owner's addresses
  std::uint32_t slab = no_slab;  ///< the payload is already in this slab of ours
};

/// Sends a request. Waits for room, polling, unless `immediate`; then returns non-zero if there was
/// none and nothing was sent. Client context only.
int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept;

/// Sends the reply to the request that `token` names. Never waits for the requester.
void send_reply(gex_Token_t token, Outbound& message) noexcept;

/// The two addresses of a message between endpoints of one client.
std::uint16_t endpoints_of(gex_EP_t source, gex_EP_Index_t target) noexcept;

}  // namespace gex::am
