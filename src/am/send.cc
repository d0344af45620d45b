#include "am/limits.h"
#include "am/network.h"
#include "am/outbound.h"
#include "am/to_neighbor.h"
#include "am/to_self.h"
#include "am/token.h"
#include "core/objects.h"
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
  return {jobrank, links().to(jobrank)};
}

Route route_back(const _gex_Token& token) noexcept {
  const gex_Rank_t jobrank = token.header.source;
  if (token.ring == nullptr) return {jobrank, nullptr};
  Link* const link = token.ring->to_source;
  return {jobrank, link != nullptr ? link : links().to(jobrank)};
}

int send_request(Route route, const Outbound& message, bool immediate) noexcept {
  if (route.link != nullptr) return send_request_to_neighbor(*route.link, message, immediate);
  if (crosses_network(route)) return send_request_over_network(route.jobrank, message, immediate);
  send_to_self(message);
  return 0;
}

void send_reply_by_route(Route route, const Outbound& message) noexcept {
  if (route.link != nullptr) return send_reply_to_neighbor(*route.link, message);
  if (crosses_network(route)) return send_reply_over_network(route.jobrank, message);
  send_to_self(message);
}

void send_reply(gex_Token_t token, Route route, const Outbound& message) noexcept {
  token->may_reply = false;
  send_reply_by_route(route, message);
}

int send_request(gex_Rank_t jobrank, const Outbound& message, bool immediate) noexcept {
  return send_request(route_to(jobrank), message, immediate);
}

void reply_to(gex_Token_t token, Outbound& message) noexcept {
  message.what.set_reply();
  message.what.set_endpoints(endpoints_back(*token));
  send_reply(token, route_back(*token), message);
}

}  // namespace gex::am
