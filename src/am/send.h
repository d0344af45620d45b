#pragma once
// The entry points' way to send: the shortest path inline, so that what the caller knows (category,
// direction, no payload) is folded into it, and a call for everything else.

#include "am/local_send.h"
#include "am/outbound.h"
#include "am/token.h"

namespace gex::am {

/// What send_request does when the shortest path is not open.
int send_request_slowly(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept;
void send_reply_slowly(gex_Token_t token, const Outbound& message) noexcept;

/// send_request, inline.
[[gnu::always_inline]] inline int send_request_now(gex_Rank_t jobrank, const Outbound& message,
                                                   bool immediate) noexcept {
  Link* link = links().to(jobrank);
  // An immediate call must not wait for another thread's turn at the ring.
  if (link != nullptr && fits_in_cell(message) && (!immediate || !links().threaded()) &&
      try_send_in_cell(*link, shm::requests, message)) [[likely]]
    return 0;
  return send_request_slowly(jobrank, message, immediate);
}

/// send_reply, inline.
[[gnu::always_inline]] inline void send_reply_now(gex_Token_t token, Outbound& message) noexcept {
  const MessageHeader& header = token->header;
  token->replied = true;
  message.reply = true;
  message.endpoints = MessageHeader::make_endpoints(header.client(), header.target_endpoint(),
                                                    header.source_endpoint());
  if (token->ring != nullptr && fits_in_cell(message) &&
      try_send_in_cell(*links().to(header.source), shm::replies, message)) [[likely]]
    return;
  send_reply_slowly(token, message);
}

}  // namespace gex::am
