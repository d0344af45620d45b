#include "am/local_send.h"
#include "am/network.h"
#include "am/outbound.h"
#include "am/to_self.h"
#include "am/token.h"
#include "core/objects.h"
#include "core/progress.h"
#include "observe/restricted.h"

namespace gex::am {

Endpoints endpoints_of(gex_EP_t source, gex_EP_Index_t target) noexcept {
  return Endpoints::make(source->client->index, source->index, target);
}

Op op_of(gex_Rank_t jobrank, const Outbound& message) noexcept {
  constexpr Call requests[] = {Call::request_short, Call::request_medium, Call::request_long};
  const Call call = requests[static_cast<unsigned>(message.what.category())];
  const bool is_own = message.what.handler() < GEX_AM_INDEX_BASE;
  return Op::with_peer(OpKind::message, is_own ? std::uint16_t{0} : number_of(call), jobrank,
                       message.size);
}

Route route_to(gex_Rank_t jobrank) noexcept {
  if (is_to_self(jobrank)) return {jobrank, true};
  return {jobrank, false, links().to(jobrank)};
}

bool may_have_room(const Route& route) noexcept {
  return route.link == nullptr || may_have_room_local(*route.link);
}

int send_request(const Route& route, const Outbound& message, bool immediate) noexcept {
  if (route.to_self) {
    send_to_self(message);
    return 0;
  }
  if (route.link != nullptr) return send_request_local(*route.link, message, immediate);
  const gex_Rank_t jobrank = route.jobrank;
  const auto attempt = [&]() noexcept { return try_send_network(jobrank, message); };
  if (attempt()) return 0;
  if (immediate) return 1;
  wait_until([&]() noexcept { return op_of(jobrank, message); }, attempt, WaitCause::room);
  return 0;
}

int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept {
  if (is_to_self(jobrank)) {
    send_to_self(message);
    return 0;
  }
  return send_request(route_to(jobrank), message, immediate);
}

void send_reply(gex_Token_t token, Outbound& message) noexcept {
  token->may_reply = false;
  message.what.set_reply();
  message.what.set_endpoints(token->header.endpoints().reversed());
  if (is_to_self(token->header.source))
    send_to_self(message);
  else if (Link* const link = reply_link(*token))
    send_reply_local(*link, message);
  else
    send_reply_network(token->header.source, message);
}

}  // namespace gex::am
