#pragma once
// The token: the message of a running handler, and what its reply has from it.

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

namespace gex::am {

/// The endpoints of the reply to a request; its route is route_back (outbound.h).
inline Endpoints endpoints_back(const _gex_Token& request) noexcept {
  return request.header.endpoints().reversed();
}
/// The `what` of the reply to a request.
inline MessageWhat reply_what(const _gex_Token& request, std::uint8_t handler, Category category,
                              unsigned arg_count) noexcept {
  return MessageWhat::make(handler, category, /*reply=*/true, arg_count, endpoints_back(request));
}

}  // namespace gex::am
