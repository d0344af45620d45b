// Entry points: messages that go the express way if they can (am/express.h), and the map of all
// active messages: the files that each passes, in order.
//
// A short request; a medium one has `medium` in the names, and a payload besides:
//
//   gex_AM_RequestShort0..16  gex/am_families.h   inline: gathers the arguments, and makes one call
//   gex_am_request_short_     here                by the threading mode (in_mode): in PAR through
//                                                 in_par, a function of its own
//   express_request_short     here                looks its route up if the team allows that here
//                                                 (is_express_team), and the thread has links
//                                                 (own_by_jobrank, am/links.h)
//   express_short             am/express.h        to a neighbor: writes a cell of its ring and
//                                                 publishes it (shm/ring.h): nothing more to do
//   request_short_by_route    here                not sent: no neighbor, no room or a busy lock
//                                                 now, or it does not fit
//   general_request_short     am.cc               or, where none is looked up here, and of checked
//                                                 and traced calls: checks, and looks the route up
//                                                 (route_to, am/send.cc)
//   send_and_complete         api/am_send.h       from both: notes it, sends it, and completes
//                                                 lc_opt
//   send_request              am/send.cc          chooses by the end of the route
//                                                 (crosses_network, am/limits.h):
//   - send_request_to_neighbor    am/to_neighbor.cc   waits for room (try_send): claim_cell,
//                                                     publish_cell (am/cells.h); a large payload
//                                                     in a slab (am/slabs.h)
//   - send_request_over_network   am/network.cc       takes a credit (am/accounts.h), and gives a
//                                                     WireMessage (am/wire.h) to Conduit::send
//                                                     (give_to_conduit)
//   - send_to_self                am/to_self.cc       calls the handler
//
// A long request: gex_am_request_long_ (am.cc), and send_long_request (rma/long_message.h): a put
// first if its payload cannot go with it; then send_request. Where that would wait but must not, an
// immediate one is deferred (am/deferred_send.h), as is a long reply (send_long_reply): polls send
// it.
//
// A prepared request: Prepare finds its route and a buffer (express_prepare here, or
// prepare_request, am/prepare.cc), which a descriptor keeps. Commit sends it: express_commit here,
// or commit (am/prepare.cc), and send_request; a long one commit_long_request (rma/long_message.h).
//
// And at the peer, in a poll:
//
//   gasnet_AMPoll             gex/poll.h          inline: looks at the inboxes, and makes a call if
//                                                 one seems full, or other deliveries are wanted,
//                                                 as with a network always: want_deliveries
//                                                 (gex_poll_, gasnet1_core.cc);
//   poll                      core/progress.h     so does this, of the library's own waits. Both
//                                                 end in poll_busy (core/progress.cc)
//   deliver_messages          am/poll.cc          the rings first (poll_rings), then all others:
//   - deliver_from_ring           am/receive.cc       copies a message out of its cell and gives
//                                                     the cell back (deliver_next)
//   - poll_network                am/network.cc       poll_conduit, Conduit::poll, and from there
//                                                     (Host::deliver) deliver_from_network:
//                                                     validates the bytes (read_message,
//                                                     am/wire.h), and applies what they report
//                                                     (am/accounts.h)
//   - deliver_internal_to_self    am/to_self.cc       the library's own, of this process to itself
//   - deliver_set_aside           am/poll.cc          those that had to wait (am/set_aside.h)
//   run_handler               am/deliver.h        each of these: asks if the message fits its
//                                                 handler, the client's or the library's own
//                                                 (am/internal.h), and calls that
//   request_unanswered        am/cells.cc         it has not replied: gives its room back; over a
//                                                 network message_handled (am/network.cc)
//
// A progress thread delivers the library's own: serve (am/serve.cc) by serve_message
// (am/receive.cc), and by serve_network and poll_conduit (am/network.cc).
//
// A reply has the same steps, with `reply` in the names: express_reply_short here, by the link of
// its request's ring (express_reply_link), reply_short_by_route if it is not sent so, or
// general_reply_short (am.cc), by its request's route, reversed (route_back, am/send.cc); from both
// send_reply.
//
// An Outbound (am/outbound.h) carries a message to its end, an Arrived (am/arrived.h) from there to
// run_handler, which makes its token (am/token.h). A Route is a jobrank, and the Link (rings) to it
// if that is a neighbor's. `what` is the first word of a message's header, made here or in am.cc
// and kept up to the peer; that of prepared messages is completed by commit, of the library's own
// replies by send_reply.

#include "am/express.h"

#include "am/prepare.h"
#include "am/token.h"
#include "api/am_send.h"
#include "core/memory.h"
#include "core/observed.h"
#include "core/team.h"
#include "observe/in_call.h"

namespace {

using gex::Call;
using gex::Category;
using gex::MessageWhat;
using gex::am::Express;
using gex::am::Link;
using gex::am::reply_what;
using gex::am::Route;
using gex::api::complete_locally;

/// Returns true if requests to members of that team may go the express way. Those of a TM-pair have
/// more to look up, and calls that are checked or traced, which have no such team, more to do.
/// Replies and Prepare leave it for a watched job (GEX_HANG_AFTER), too, whose calls are noted.
bool is_express_team(gex_TM_t tm) {
  return GEX_IS_READABLE_TEAM_(tm) != 0;
}
/// The links by which a request to a member of that team may go the express way; null: the general
/// form takes it.
Link* const* express_links(gex_TM_t tm) {
  if (!is_express_team(tm)) [[unlikely]]
    return nullptr;
  return gex::am::Links::own_by_jobrank();
}
/// Where such a request goes.
struct ExpressTarget {
  ExpressTarget(Link* const* links, gex_TM_t tm, gex_Rank_t rank) {
    const gex::Team& team = gex::Team::from(tm);
    const gex_EP_Location_t location = team.location_of(rank);
    route = {location.gex_rank, links[location.gex_rank]};
    endpoints = team.endpoints_to(location);
  }
  MessageWhat what(gex_AM_Index_t handler, Category category, unsigned numargs) const {
    return MessageWhat::make(handler, category, /*reply=*/false, numargs, endpoints);
  }
  Route route;
  gex::Endpoints endpoints;
};

/// The link of a reply that may go the express way, or null.
Link* express_reply_link(gex_Token_t token) {
  if (token == nullptr || gex::observed() || !token->may_reply) [[unlikely]]
    return nullptr;
  return token->ring != nullptr ? token->ring->to_source : nullptr;
}
/// The route of a reply by such a link.
Route reply_route(gex_Token_t token, Link* link) {
  return {token->header.source, link};
}

/// Returns true if the processor reads a payload where the client names it.
bool is_payload_readable(const void* source_addr, gex_Flags_t flags) {
  return (flags & GEX_FLAG_SELF_SEG_OFFSET) == 0 && gex::kind_at(source_addr) == nullptr;
}

/// The last thing that a call does which has sent its message: callers stay leaves.
[[gnu::always_inline]] inline int end_call(Express outcome, Link* link,
                                           gex::shm::Direction direction) {
  if (outcome == Express::consumer_sleeps) [[unlikely]]
    return gex::am::wake_consumer(*link, direction);
  return 0;
}

// Messages that have not gone the express way: in functions of their own, so that those that have
// keep no register.

[[gnu::noinline]] int request_short_by_route(Route route, MessageWhat what, gex_Flags_t flags,
                                             const gex_AM_Arg_t* args) noexcept {
  return gex::in_call(Call::request_short, [=](auto& call) noexcept {
    return gex::api::send_and_complete(call, route, gex::api::make_message(what, args), nullptr,
                                       flags);
  });
}

[[gnu::noinline]] int request_medium_by_route(Route route, MessageWhat what,
                                              const void* source_addr, size_t nbytes,
                                              gex_Event_t* lc_opt, gex_Flags_t flags,
                                              const gex_AM_Arg_t* args) noexcept {
  return gex::in_call(Call::request_medium, [=](auto& call) noexcept {
    gex::api::require_size(call, nbytes, gex::am::max_medium(route));
    return gex::api::send_and_complete(
        call, route, gex::api::make_message(what, args, source_addr, nbytes), lc_opt, flags);
  });
}

[[gnu::noinline]] int reply_short_by_route(gex_Token_t token, Route route, MessageWhat what,
                                           const gex_AM_Arg_t* args) noexcept {
  return gex::in_call(Call::reply_short, [=](auto& call) noexcept {
    return gex::api::reply_and_complete(call, token, route, gex::api::make_message(what, args),
                                        nullptr);
  });
}

[[gnu::noinline]] int reply_medium_by_route(gex_Token_t token, Route route, MessageWhat what,
                                            const void* source_addr, size_t nbytes,
                                            gex_Event_t* lc_opt,
                                            const gex_AM_Arg_t* args) noexcept {
  return gex::in_call(Call::reply_medium, [=](auto& call) noexcept {
    gex::api::require_size(call, nbytes, gex::am::max_medium(route));
    return gex::api::reply_and_complete(
        call, token, route, gex::api::make_message(what, args, source_addr, nbytes), lc_opt);
  });
}

// The express ways. `threaded`: in jobs of mode PAR.

[[gnu::always_inline]] inline int express_request_short(gex_TM_t tm, gex_Rank_t rank,
                                                        gex_AM_Index_t handler, gex_Flags_t flags,
                                                        unsigned int numargs,
                                                        const gex_AM_Arg_t* args, bool threaded) {
  Link* const* const links = express_links(tm);
  if (links == nullptr) [[unlikely]]
    return gex::api::general_request_short(tm, rank, handler, flags, numargs, args);
  const ExpressTarget to(links, tm, rank);
  const MessageWhat what = to.what(handler, Category::short_message, numargs);
  const Express outcome =
      gex::am::express_short(to.route.link, gex::shm::requests, what, args, numargs, threaded);
  if (is_sent(outcome)) [[likely]]
    return end_call(outcome, to.route.link, gex::shm::requests);
  return request_short_by_route(to.route, what, flags, args);
}

[[gnu::always_inline]] inline int express_request_medium(gex_TM_t tm, gex_Rank_t rank,
                                                         gex_AM_Index_t handler,
                                                         const void* source_addr, size_t nbytes,
                                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                                         unsigned int numargs,
                                                         const gex_AM_Arg_t* args, bool threaded) {
  Link* const* const links = express_links(tm);
  if (links == nullptr || !is_payload_readable(source_addr, flags)) [[unlikely]]
    return gex::api::general_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags,
                                            numargs, args);
  const ExpressTarget to(links, tm, rank);
  const MessageWhat what = to.what(handler, Category::medium, numargs);
  const Express outcome = gex::am::express_medium(to.route.link, gex::shm::requests, what, args,
                                                  numargs, source_addr, nbytes, threaded);
  if (is_sent(outcome)) [[likely]] {
    complete_locally(lc_opt);
    return end_call(outcome, to.route.link, gex::shm::requests);
  }
  return request_medium_by_route(to.route, what, source_addr, nbytes, lc_opt, flags, args);
}

[[gnu::always_inline]] inline int express_reply_short(gex_Token_t token, gex_AM_Index_t handler,
                                                      gex_Flags_t flags, unsigned int numargs,
                                                      const gex_AM_Arg_t* args, bool threaded) {
  Link* const link = express_reply_link(token);
  if (link == nullptr) [[unlikely]]
    return gex::api::general_reply_short(token, handler, flags, numargs, args);
  const MessageWhat what = reply_what(*token, handler, Category::short_message, numargs);
  const Express outcome =
      gex::am::express_short(link, gex::shm::replies, what, args, numargs, threaded);
  if (!is_sent(outcome)) [[unlikely]]
    return reply_short_by_route(token, reply_route(token, link), what, args);
  token->may_reply = false;
  return end_call(outcome, link, gex::shm::replies);
}

[[gnu::always_inline]] inline int express_reply_medium(gex_Token_t token, gex_AM_Index_t handler,
                                                       const void* source_addr, size_t nbytes,
                                                       gex_Event_t* lc_opt, gex_Flags_t flags,
                                                       unsigned int numargs,
                                                       const gex_AM_Arg_t* args, bool threaded) {
  Link* const link = express_reply_link(token);
  if (link == nullptr || !is_payload_readable(source_addr, flags)) [[unlikely]]
    return gex::api::general_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags,
                                          numargs, args);
  const MessageWhat what = reply_what(*token, handler, Category::medium, numargs);
  const Express outcome = gex::am::express_medium(link, gex::shm::replies, what, args, numargs,
                                                  source_addr, nbytes, threaded);
  if (!is_sent(outcome)) [[unlikely]]
    return reply_medium_by_route(token, reply_route(token, link), what, source_addr, nbytes, lc_opt,
                                 args);
  token->may_reply = false;
  complete_locally(lc_opt);
  return end_call(outcome, link, gex::shm::replies);
}

/// In PAR a lock may have to be waited for: in a function of its own, so that calls of the other
/// modes stay leaves.
template <auto express, class... Arguments>
[[gnu::noinline]] int in_par(Arguments... arguments) {
  return express(arguments..., /*threaded=*/true);
}
/// Calls one of the express ways.
template <auto express, class... Arguments>
[[gnu::always_inline]] inline int in_mode(Arguments... arguments) {
  if (gex::am::links().threaded()) return in_par<express>(arguments...);
  return express(arguments..., /*threaded=*/false);
}

/// Opens a descriptor for a payload that is built in its small buffer, wherever it goes; null: the
/// general form takes it.
gex_AM_SrcDesc_t express_prepare(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                 size_t least_payload, size_t most_payload, gex_Flags_t flags,
                                 unsigned int numargs) {
  Link* const* const links = express_links(tm);
  if (links == nullptr || client_buf != nullptr || numargs > gex::shm::cell_words ||
      !gex::am::fits_small_buffer(numargs, most_payload) || least_payload > most_payload ||
      gex::observed())
    return GEX_AM_SRCDESC_NO_OP;
  _gex_AM_SrcDesc& descriptor = gex::am::messages_of(gex::this_thread()).request;
  if (descriptor.is_open()) return GEX_AM_SRCDESC_NO_OP;
  const ExpressTarget to(links, tm, rank);
  gex::am::open(descriptor, _gex_AM_SrcDesc::State::express, /*is_reply=*/false, to.route,
                to.endpoints, {nullptr, most_payload, nullptr, false, flags, numargs},
                {descriptor.small_buffer, most_payload});
  return &descriptor;
}

/// Sends the payload of such a descriptor, which then is closed; false, with nothing done: the
/// general form takes it.
bool express_commit(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                    unsigned int numargs, const gex_AM_Arg_t* args) {
  if (sd == GEX_AM_SRCDESC_NO_OP || sd->state != _gex_AM_SrcDesc::State::express ||
      nbytes > sd->size)
    return false;
  Link* const link = sd->route.link;
  const MessageWhat what =
      MessageWhat::make(handler, Category::medium, /*reply=*/false, numargs, sd->endpoints);
  const Express outcome =
      gex::am::express_medium(link, gex::shm::requests, what, args, numargs, sd->small_buffer,
                              nbytes, gex::am::links().threaded());
  if (!is_sent(outcome)) return false;
  sd->state = _gex_AM_SrcDesc::State::closed;
  end_call(outcome, link, gex::shm::requests);
  return true;
}

}  // namespace

extern "C" {

int gex_am_request_short_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                          unsigned int numargs, const gex_AM_Arg_t* args) {
  return in_mode<express_request_short>(tm, rank, handler, flags, numargs, args);
}

int gex_am_request_medium_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                           const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                           gex_Flags_t flags, unsigned int numargs, const gex_AM_Arg_t* args) {
  return in_mode<express_request_medium>(tm, rank, handler, source_addr, nbytes, lc_opt, flags,
                                         numargs, args);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload,
                                             gex_Event_t* lc_opt, gex_Flags_t flags,
                                             unsigned int numargs) {
  if (const gex_AM_SrcDesc_t sd = express_prepare(tm, rank, client_buf, least_payload, most_payload,
                                                  flags, numargs)) [[likely]] {
    complete_locally(lc_opt);
    return sd;
  }
  return gex::api::general_prepare_request_medium(tm, rank, client_buf, least_payload, most_payload,
                                                  lc_opt, flags, numargs);
}

int gex_am_commit_request_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                  gex_Flags_t flags, unsigned int numargs,
                                  const gex_AM_Arg_t* args) {
  if (express_commit(sd, handler, nbytes, numargs, args)) [[likely]]
    return 0;
  return gex::api::general_commit_request_medium(sd, handler, nbytes, flags, numargs, args);
}

int gex_am_reply_short_(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                        unsigned int numargs, const gex_AM_Arg_t* args) {
  return in_mode<express_reply_short>(token, handler, flags, numargs, args);
}

int gex_am_reply_medium_(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                         size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags,
                         unsigned int numargs, const gex_AM_Arg_t* args) {
  return in_mode<express_reply_medium>(token, handler, source_addr, nbytes, lc_opt, flags, numargs,
                                       args);
}

}  // extern "C"
