// Entry points: messages that go the shortest way if they can (am/express.h).
//
// The path of a short request; a medium one has `medium` in the names, and `payload` besides:
//
//   gex_am_request_short_  here           what the inline gex_AM_RequestShort calls
//   express_request_short  here           looks the way up once: a link, and the message is in a
//                                         cell of its ring (am::send_short); nothing more to do
//   request_short_on       here           no link, or no room: goes on with what was found
//   request_short          api/am.cc      makes an Outbound; of a Route, nothing is checked
//   am::send_request       am/send.cc     calls the handler, waits for room in the ring, or:
//   try_send_network       am/network.cc  takes a credit; `send_on` puts the header before the
//                                         message (am/wire.h), and gives it to the conduit's `send`
//
// Where calls are checked or traced, express_request_short goes on to the request_short of
// api/am.cc that has a team and a rank: it checks, and looks the way up.
//
// And at the peer, in a poll:
//
//   deliver_messages       am/poll.cc     polls the rings, and the conduit by poll_network
//   deliver_from_network   am/network.cc  what the conduit calls (Host::deliver): validates the
//                                         bytes (am/wire.h), and applies what they have of credits
//   run_handler            am/deliver.h   calls the client's handler, or one of the library's own
//
// The way has these names: a Link is the rings to a neighbor; a Lookup is a link that was looked up
// without a call, and whether that is the last word; a Route is a link, this process, or else the
// network. `what` is the first word of a message's header, made here and kept up to the peer.

#include "api/am_express.h"

#include "am/express.h"
#include "am/local_send.h"
#include "am/prepare.h"
#include "am/to_self.h"
#include "am/token.h"
#include "core/memory.h"
#include "core/observed.h"
#include "core/team.h"

namespace {

using gex::Category;
using gex::MessageWhat;
using gex::am::Express;
using gex::am::Route;
using gex::api::complete_locally;
using gex::api::request_medium;
using gex::api::request_short;

using Lookup = gex::am::Links::Lookup;

/// A request's way, looked up once: the shortest way hands it on where it does not send the
/// message.
struct ExpressTarget {
  ExpressTarget(gex_TM_t tm, gex_Rank_t rank) {
    const gex::Team& team = gex::Team::from(tm);
    const gex_EP_Location_t location = team.location_of(rank);
    jobrank = location.gex_rank;
    endpoints = team.endpoints_to(location);
  }
  Lookup link() const { return gex::am::Links::pair_to(jobrank); }
  MessageWhat what(gex_AM_Index_t handler, Category category, unsigned numargs) const {
    return gex::MessageWhat::make(handler, category, false, numargs, endpoints);
  }
  gex_Rank_t jobrank;
  gex::Endpoints endpoints;
};

/// The link of a reply that takes the shortest way; null if there is something to check that takes
/// longer.
gex::am::Link* express_reply_link(gex_Token_t token) {
  if (token == nullptr || gex::observed() || !token->may_reply) [[unlikely]]
    return nullptr;
  return token->ring != nullptr ? token->ring->to_source : nullptr;
}
MessageWhat reply_what(gex_Token_t token, gex_AM_Index_t handler, Category category,
                       unsigned numargs) {
  return gex::MessageWhat::make(handler, category, true, numargs,
                                token->header.endpoints().reversed());
}

/// The last thing that a call does which has sent its message: callers stay leaves.
[[gnu::always_inline]] inline int end_call(Express sent, gex::am::Link* link,
                                           gex::shm::Direction direction) {
  if (sent == Express::consumer_sleeps) [[unlikely]]
    return gex::am::wake_consumer(*link, direction);
  return 0;
}

/// Returns true if a client's message to that rank is the call of its handler and nothing else.
bool is_call(gex_Rank_t jobrank, gex_AM_Index_t handler) {
  return gex::am::is_to_self(jobrank) && !gex::observed() && handler >= GEX_AM_INDEX_BASE;
}
/// Returns true if the reply to that token is the call of its handler.
bool is_call(gex_Token_t token, gex_AM_Index_t handler) {
  return token != nullptr && token->may_reply && is_call(token->header.source, handler);
}

/// Returns true if the processor reads a payload where the client names it.
bool is_readable(const void* source_addr, gex_Flags_t flags) {
  return (flags & GEX_FLAG_SELF_SEG_OFFSET) == 0 && gex::kind_at(source_addr) == nullptr;
}

/// The whole route of a request for whose shortest way this was found.
Route route_of(gex_Rank_t jobrank, Lookup found) {
  return found.is_final ? Route{jobrank, gex::am::is_to_self(jobrank), found.link}
                        : gex::am::route_to(jobrank);
}

// Messages that do not take the way through a cell: in functions of their own, so that those of the
// shortest way keep no register. The first two go on with what that way has found.

[[gnu::noinline]] int request_short_on(gex_Rank_t jobrank, MessageWhat what, gex_Flags_t flags,
                                       const gex_AM_Arg_t* args, Lookup found) {
  if (is_call(jobrank, what.handler())) {
    gex::am::run_short_to_self(what, args);
    return 0;
  }
  return request_short(route_of(jobrank, found), what, flags, args);
}

[[gnu::noinline]] int request_medium_on(gex_Rank_t jobrank, MessageWhat what,
                                        const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                        gex_Flags_t flags, const gex_AM_Arg_t* args, Lookup found) {
  if (nbytes <= gex::max_medium_payload && is_call(jobrank, what.handler())) {
    complete_locally(lc_opt);
    gex::am::run_medium_to_self(what, args, source_addr, nbytes);
    return 0;
  }
  return request_medium(route_of(jobrank, found), what, source_addr, nbytes, lc_opt, flags, args);
}

[[gnu::noinline]] int reply_short_on(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                     unsigned int numargs, const gex_AM_Arg_t* args) {
  if (is_call(token, handler)) {
    token->may_reply = false;
    gex::am::run_short_to_self(reply_what(token, handler, Category::short_message, numargs), args);
    return 0;
  }
  return gex::api::reply_short(token, handler, flags, numargs, args);
}

[[gnu::noinline]] int reply_medium_on(gex_Token_t token, gex_AM_Index_t handler,
                                      const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                      gex_Flags_t flags, unsigned int numargs,
                                      const gex_AM_Arg_t* args) {
  if (is_readable(source_addr, flags) && nbytes <= gex::max_medium_payload &&
      is_call(token, handler)) {
    token->may_reply = false;
    complete_locally(lc_opt);
    gex::am::run_medium_to_self(reply_what(token, handler, Category::medium, numargs), args,
                                source_addr, nbytes);
    return 0;
  }
  return gex::api::reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, numargs, args);
}

// The shortest ways, and what takes them in jobs of mode PAR. There a lock may have to be waited
// for: in functions of their own, so that those of the other modes stay leaves.

[[gnu::always_inline]] inline int express_request_short(gex_TM_t tm, gex_Rank_t rank,
                                                        gex_AM_Index_t handler, gex_Flags_t flags,
                                                        unsigned int numargs,
                                                        const gex_AM_Arg_t* args, bool threaded) {
  if (GEX_IS_READABLE_TEAM_(tm)) [[likely]] {
    const ExpressTarget to(tm, rank);
    const Lookup found = to.link();
    const MessageWhat what = to.what(handler, Category::short_message, numargs);
    const Express sent =
        gex::am::send_short(found.link, gex::shm::requests, what, args, numargs, threaded);
    if (is_sent(sent)) [[likely]]
      return end_call(sent, found.link, gex::shm::requests);
    return request_short_on(to.jobrank, what, flags, args, found);
  }
  return request_short(tm, rank, handler, flags, numargs, args);
}
[[gnu::noinline]] int request_short_in_par(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                           gex_Flags_t flags, unsigned int numargs,
                                           const gex_AM_Arg_t* args) {
  return express_request_short(tm, rank, handler, flags, numargs, args, /*threaded=*/true);
}

[[gnu::always_inline]] inline int express_request_medium(gex_TM_t tm, gex_Rank_t rank,
                                                         gex_AM_Index_t handler,
                                                         const void* source_addr, size_t nbytes,
                                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                                         unsigned int numargs,
                                                         const gex_AM_Arg_t* args, bool threaded) {
  if (GEX_IS_READABLE_TEAM_(tm) && is_readable(source_addr, flags)) [[likely]] {
    const ExpressTarget to(tm, rank);
    const Lookup found = to.link();
    const MessageWhat what = to.what(handler, Category::medium, numargs);
    const Express sent = gex::am::send_medium(found.link, gex::shm::requests, what, args, numargs,
                                              source_addr, nbytes, threaded);
    if (is_sent(sent)) [[likely]] {
      complete_locally(lc_opt);
      return end_call(sent, found.link, gex::shm::requests);
    }
    return request_medium_on(to.jobrank, what, source_addr, nbytes, lc_opt, flags, args, found);
  }
  return request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, numargs, args);
}
[[gnu::noinline]] int request_medium_in_par(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                            const void* source_addr, size_t nbytes,
                                            gex_Event_t* lc_opt, gex_Flags_t flags,
                                            unsigned int numargs, const gex_AM_Arg_t* args) {
  return express_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, numargs,
                                args,
                                /*threaded=*/true);
}

[[gnu::always_inline]] inline int express_reply_short(gex_Token_t token, gex_AM_Index_t handler,
                                                      gex_Flags_t flags, unsigned int numargs,
                                                      const gex_AM_Arg_t* args, bool threaded) {
  if (gex::am::Link* link = express_reply_link(token)) [[likely]] {
    const MessageWhat what = reply_what(token, handler, Category::short_message, numargs);
    const Express sent =
        gex::am::send_short(link, gex::shm::replies, what, args, numargs, threaded);
    if (is_sent(sent)) [[likely]] {
      token->may_reply = false;
      return end_call(sent, link, gex::shm::replies);
    }
  }
  return reply_short_on(token, handler, flags, numargs, args);
}
[[gnu::noinline]] int reply_short_in_par(gex_Token_t token, gex_AM_Index_t handler,
                                         gex_Flags_t flags, unsigned int numargs,
                                         const gex_AM_Arg_t* args) {
  return express_reply_short(token, handler, flags, numargs, args, /*threaded=*/true);
}

[[gnu::always_inline]] inline int express_reply_medium(gex_Token_t token, gex_AM_Index_t handler,
                                                       const void* source_addr, size_t nbytes,
                                                       gex_Event_t* lc_opt, gex_Flags_t flags,
                                                       unsigned int numargs,
                                                       const gex_AM_Arg_t* args, bool threaded) {
  gex::am::Link* link = express_reply_link(token);
  if (link != nullptr && is_readable(source_addr, flags)) [[likely]] {
    const MessageWhat what = reply_what(token, handler, Category::medium, numargs);
    const Express sent = gex::am::send_medium(link, gex::shm::replies, what, args, numargs,
                                              source_addr, nbytes, threaded);
    if (is_sent(sent)) [[likely]] {
      token->may_reply = false;
      complete_locally(lc_opt);
      return end_call(sent, link, gex::shm::replies);
    }
  }
  return reply_medium_on(token, handler, source_addr, nbytes, lc_opt, flags, numargs, args);
}
[[gnu::noinline]] int reply_medium_in_par(gex_Token_t token, gex_AM_Index_t handler,
                                          const void* source_addr, size_t nbytes,
                                          gex_Event_t* lc_opt, gex_Flags_t flags,
                                          unsigned int numargs, const gex_AM_Arg_t* args) {
  return express_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, numargs, args,
                              /*threaded=*/true);
}

/// Opens a descriptor for a payload that is built in its small buffer, wherever it goes; null if
/// another is wanted, or something is to be checked.
gex_AM_SrcDesc_t prepare_small(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                               size_t least_payload, size_t most_payload, gex_Flags_t flags,
                               unsigned int numargs) {
  gex::ThreadRecord* const thread = gex::current_thread_record;
  if (client_buf != nullptr || most_payload > gex::small_payload_bytes ||
      least_payload > most_payload || numargs > gex::shm::cell_words || gex::observed() ||
      thread == nullptr)
    return GEX_AM_SRCDESC_NO_OP;
  _gex_AM_SrcDesc& descriptor = gex::am::messages_of(*thread).request;
  if (descriptor.open) return GEX_AM_SRCDESC_NO_OP;
  gex::am::open_small(descriptor, tm, rank, most_payload, flags, numargs);
  return &descriptor;
}

/// Sends the payload of such a descriptor, which then is closed; false, with nothing done, where
/// that takes another way.
bool commit_small(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, unsigned int numargs,
                  const gex_AM_Arg_t* args) {
  if (sd == GEX_AM_SRCDESC_NO_OP || !sd->open || sd->address != sd->small_buffer || sd->is_reply ||
      sd->is_long || nbytes > sd->size || gex::observed() || !GEX_IS_READABLE_TEAM_(sd->tm))
    return false;
  const ExpressTarget to(sd->tm, sd->rank);
  const MessageWhat what = to.what(handler, Category::medium, numargs);
  if (is_call(to.jobrank, handler)) {
    // First: the handler finds no request prepared.
    sd->open = false;
    gex::am::run_built_to_self(what, args, sd->small_buffer, nbytes);
    return true;
  }
  gex::am::Link* const link = to.link().link;
  const Express sent = gex::am::send_medium(link, gex::shm::requests, what, args, numargs,
                                            sd->small_buffer, nbytes, gex::am::links().threaded());
  if (!is_sent(sent)) return false;
  sd->open = false;
  end_call(sent, link, gex::shm::requests);
  return true;
}

}  // namespace

extern "C" {

int gex_am_request_short_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                          unsigned int numargs, const gex_AM_Arg_t* args) {
  if (gex::am::links().threaded())
    return request_short_in_par(tm, rank, handler, flags, numargs, args);
  return express_request_short(tm, rank, handler, flags, numargs, args, /*threaded=*/false);
}

int gex_am_request_medium_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                           const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                           gex_Flags_t flags, unsigned int numargs, const gex_AM_Arg_t* args) {
  if (gex::am::links().threaded())
    return request_medium_in_par(tm, rank, handler, source_addr, nbytes, lc_opt, flags, numargs,
                                 args);
  return express_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, numargs,
                                args,
                                /*threaded=*/false);
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                             size_t least_payload, size_t most_payload,
                                             gex_Event_t* lc_opt, gex_Flags_t flags,
                                             unsigned int numargs) {
  if (const gex_AM_SrcDesc_t sd = prepare_small(tm, rank, client_buf, least_payload, most_payload,
                                                flags, numargs)) [[likely]] {
    complete_locally(lc_opt);
    return sd;
  }
  return gex::api::prepare_request_medium(tm, rank, client_buf, least_payload, most_payload, lc_opt,
                                          flags, numargs);
}

int gex_am_commit_request_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                  gex_Flags_t flags, unsigned int numargs,
                                  const gex_AM_Arg_t* args) {
  if (commit_small(sd, handler, nbytes, numargs, args)) [[likely]]
    return 0;
  return gex::api::commit_request_medium(sd, handler, nbytes, flags, numargs, args);
}

int gex_am_reply_short_(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                        unsigned int numargs, const gex_AM_Arg_t* args) {
  if (gex::am::links().threaded()) return reply_short_in_par(token, handler, flags, numargs, args);
  return express_reply_short(token, handler, flags, numargs, args, /*threaded=*/false);
}

int gex_am_reply_medium_(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                         size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags,
                         unsigned int numargs, const gex_AM_Arg_t* args) {
  if (gex::am::links().threaded())
    return reply_medium_in_par(token, handler, source_addr, nbytes, lc_opt, flags, numargs, args);
  return express_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, numargs, args,
                              /*threaded=*/false);
}

}  // extern "C"
