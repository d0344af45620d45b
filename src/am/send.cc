#include "am/send.h"

#include "am/network.h"
#include "base/error.h"
#include "core/objects.h"
#include "core/progress.h"

namespace gex::am {

std::uint16_t endpoints_of(gex_EP_t source, gex_EP_Index_t target) noexcept {
  return MessageHeader::make_endpoints(source->client->index, source->index, target);
}

int send_request_slowly(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept {
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

void send_reply_slowly(gex_Token_t token, const Outbound& message) noexcept {
  if (token->ring != nullptr)
    send_reply_local(*links().to(token->header.source), message);
  else
    send_reply_network(token->header.source, message);
}

int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept {
  return send_request_now(jobrank, message, immediate);
}

void send_reply(gex_Token_t token, Outbound& message) noexcept {
  send_reply_now(token, message);
}

}  // namespace gex::am
