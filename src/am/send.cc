#include "am/internal.h"
#include "am/local_send.h"
#include "am/network.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "core/objects.h"
#include "core/progress.h"

namespace gex::am {

std::uint16_t endpoints_of(gex_EP_t source, gex_EP_Index_t target) noexcept {
  return MessageHeader::make_endpoints(source->client->index, source->index, target);
}

namespace {

[[gnu::noinline]] int send_request_slowly(gex_Rank_t jobrank, const Outbound& message,
                                          bool immediate) noexcept {
  Link* link = links().to(jobrank);
  const auto attempt = [&]() noexcept {
    return link != nullptr ? try_send_local(*link, message, immediate)
                           : try_send_network(jobrank, message);
  };
  if (attempt()) return 0;
  if (immediate) return 1;
  wait_until([&]() noexcept { return attempt(); });
  return 0;
}

}  // namespace

int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept {
  Link* link = links().to(jobrank);
  if (link != nullptr && fits_in_cell(message) && (!immediate || !links().threaded()) &&
      try_send_in_cell(*link, shm::requests, message)) [[likely]]
    return 0;
  return send_request_slowly(jobrank, message, immediate);
}

void send_reply(gex_Token_t token, Outbound& message) noexcept {
  token->replied = true;
  message.reply = true;
  message.endpoints =
      MessageHeader::make_endpoints(token->header.client(), token->header.target_endpoint(),
                                    token->header.source_endpoint());
  if (token->ring == nullptr) {
    send_reply_network(token->header.source, message);
    return;
  }
  Link& link = *links().to(token->header.source);
  if (fits_in_cell(message) && try_send_in_cell(link, shm::replies, message)) [[likely]]
    return;
  send_reply_local(link, message);
}

}  // namespace gex::am
