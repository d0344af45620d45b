// Entry points: active messages.

#include <gasnetex.h>

#include <atomic>

#include "am/limits.h"
#include "am/outbound.h"
#include "am/prepare.h"
#include "am/token.h"
#include "api/am_express.h"
#include "api/am_flags.h"
#include "api/require.h"
#include "base/error.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/team.h"
#include "core/thread.h"
#include "observe/in_call.h"
#include "observe/trace.h"
#include "rma/long_message.h"

namespace {

using gex::Call;
using gex::Category;
using gex::checked;
using gex::fatal;
using gex::in_call;
using gex::InCall;
using gex::limit_flags;
using gex::long_flags;
using gex::medium_flags;
using gex::warn;
using gex::am::Outbound;
using gex::api::complete_locally;

/// Every request starts with these checks, in checked mode.
void check_start(Call call, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags, gex_Flags_t known) {
  gex::require_peer(tm, rank, name_of(call));
  gex::require_capability(gex::resolve(tm, rank).local_endpoint, GEX_EP_CAPABILITY_AM,
                          name_of(call));
  gex::require_flags(flags, known, name_of(call));
}

void check_handler(const char* call, gex_AM_Index_t handler) {
  if (handler < GEX_AM_INDEX_BASE)
    fatal("%s: handler index %u is below GEX_AM_INDEX_BASE", call, unsigned{handler});
}

/// Checked mode. An offset may well be 0.
void check_source(Call call, const void* source_addr, std::size_t nbytes, gex_Flags_t flags) {
  if (source_addr == nullptr && nbytes != 0 && (flags & GEX_FLAG_SELF_SEG_OFFSET) == 0)
    fatal("%s: source_addr is null, and nbytes is %zu", name_of(call), nbytes);
}

void check_request(Call call, gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                   gex_Flags_t flags, gex_Flags_t known) {
  check_start(call, tm, rank, flags, known);
  check_handler(name_of(call), handler);
}

/// Checked mode.
void check_local_completion(Call call, gex_Event_t* lc_opt, bool reply) {
  if (lc_opt == nullptr) fatal("%s: lc_opt is null", name_of(call));
  if (lc_opt == GEX_EVENT_DEFER)
    fatal("%s: GEX_EVENT_DEFER is not for active messages", name_of(call));
  if (reply && lc_opt == GEX_EVENT_GROUP)
    fatal("%s: GEX_EVENT_GROUP is not for replies", name_of(call));
}

template <class AnyCall>
void check_payload(const AnyCall& call, std::size_t size, std::size_t limit, gex_Event_t* lc_opt,
                   bool reply) {
  if (size > limit) [[unlikely]]
    fatal("%s: a payload of %zu bytes is above the limit of %zu", name_of(call), size, limit);
  if (call.is_checked()) check_local_completion(call, lc_opt, reply);
}

/// Ends the job with what is wrong with a reply to that token; returns if nothing is.
[[gnu::cold]] void require_reply(Call which, gex_Token_t token, gex_Flags_t flags,
                                 gex_Flags_t known) {
  const char* call = name_of(which);
  if (token == nullptr) fatal("%s: the token is null", call);
  if (checked()) {
    // First, because outside handlers the token names nothing that could be looked at.
    const gex::ThreadRecord& thread = gex::this_thread();
    if (thread.handler_depth == 0) fatal("%s: not in a request handler", call);
    if (thread.held_locks != 0) fatal("%s: not allowed while holding a handler-safe lock", call);
    gex::require_flags(flags, known, call);
    const bool prepares = which == Call::prepare_reply_medium || which == Call::prepare_reply_long;
    if (gex::am::has_prepared_reply(thread) && !prepares)
      fatal("%s: not allowed between PrepareReply and CommitReply or CancelReply", call);
  }
  if (token->may_reply) return;
  fatal(token->header.is_reply() ? "%s: a reply handler cannot reply"
                                 : "%s: the request was already replied to",
        call);
}

/// The state a reply needs; cheap, and always checked, because a second reply would take the place
/// of another request's.
template <class AnyCall>
void check_reply(const AnyCall& call, gex_Token_t token, gex_Flags_t flags, gex_Flags_t known) {
  if (token == nullptr || call.is_checked() || !token->may_reply) [[unlikely]]
    require_reply(call, token, flags, known);
}
/// The state that a reply with a handler needs; the handler is checked in checked mode.
template <class AnyCall>
void check_reply(const AnyCall& call, gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                 gex_Flags_t known) {
  check_reply(call, token, flags, known);
  if (call.is_checked()) check_handler(name_of(call), handler);
}

Outbound message(gex::MessageWhat what, const gex_AM_Arg_t* args) {
  Outbound out;
  out.what = what;
  out.args = args;
  return out;
}
/// A message whose endpoints are added where it is sent.
Outbound message(gex_AM_Index_t handler, Category category, unsigned numargs,
                 const gex_AM_Arg_t* args) {
  return message(gex::MessageWhat::make(handler, category, false, numargs, {}), args);
}

/// An address at a peer, or with the flag an offset into its bound segment.
void* remote_address(void* address, const gex::PublishedSegment& segment, gex_Flags_t flags) {
  if ((flags & GEX_FLAG_PEER_SEG_OFFSET) == 0) return address;
  return reinterpret_cast<void*>(segment.owner_address + reinterpret_cast<std::uintptr_t>(address));
}
const void* local_address(const void* address, gex_EP_t endpoint, gex_Flags_t flags) {
  if ((flags & GEX_FLAG_SELF_SEG_OFFSET) == 0) return address;
  if (endpoint->segment == nullptr) fatal("GEX_FLAG_SELF_SEG_OFFSET without a bound segment");
  return endpoint->segment->address + reinterpret_cast<std::uintptr_t>(address);
}

constexpr bool immediate(gex_Flags_t flags) {
  return (flags & GEX_FLAG_IMMEDIATE) != 0;
}

/// The descriptor is open, the calling thread's, and of the call's kind.
void check_descriptor(Call call, gex_AM_SrcDesc_t sd, bool reply, bool is_long) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    fatal("%s: the descriptor is GEX_AM_SRCDESC_NO_OP", name_of(call));
  if (!sd->open) fatal("%s: the descriptor is not open", name_of(call));
  if (!checked()) return;
  gex::am::ThreadMessages& own = gex::am::messages_of(gex::this_thread());
  if (sd != (reply ? &own.reply : &own.request))
    fatal("%s: the descriptor is of the other direction or of another thread", name_of(call));
  if (sd->is_long != is_long) fatal("%s: the descriptor is of the other category", name_of(call));
}

void check_commit(Call call, gex_AM_SrcDesc_t sd, bool reply, bool is_long, std::size_t nbytes,
                  void* dest_addr, unsigned numargs, gex_AM_Index_t handler, gex_Flags_t flags) {
  check_descriptor(call, sd, reply, is_long);
  if (nbytes > sd->size) [[unlikely]]
    fatal("%s: %zu bytes are more than the %zu prepared", name_of(call), nbytes, sd->size);
  if (!checked()) return;
  if (gex::this_thread().held_locks != 0)
    fatal("%s: not allowed while holding a handler-safe lock", name_of(call));
  gex::require_flags(flags, GEX_FLAG_IMMEDIATE, name_of(call));
  if (numargs != sd->arg_count)
    fatal("%s: %u arguments, but %u were announced to Prepare", name_of(call), numargs,
          unsigned{sd->arg_count});
  if (is_long && sd->destination != nullptr && dest_addr != sd->destination)
    fatal("%s: the destination %p is not the one given to Prepare, %p", name_of(call), dest_addr,
          sd->destination);
  check_handler(name_of(call), handler);
}

/// The peer and the payload of a negotiated message, for the trace.
void record_commit(gex_AM_SrcDesc_t sd, std::size_t nbytes) {
  if (!gex::traced()) return;
  gex::trace::transfer(
      sd->is_reply ? sd->token->header.source : gex::resolve(sd->tm, sd->rank).jobrank, nbytes);
}

gex::am::PrepareArguments prepare_arguments(Call call, const void* client_buf,
                                            std::size_t least_payload, std::size_t most_payload,
                                            void* dest_addr, bool is_long, bool reply,
                                            gex_Event_t* lc_opt, gex_Flags_t flags,
                                            unsigned numargs, std::size_t limit) {
  if (least_payload > limit)
    fatal("%s: least_payload %zu is above the limit of %zu", name_of(call), least_payload, limit);
  if (most_payload < least_payload)
    fatal("%s: most_payload %zu is below least_payload %zu", name_of(call), most_payload,
          least_payload);
  if (numargs > gex_AM_MaxArgs())
    fatal("%s: %u arguments are more than gex_AM_MaxArgs()", name_of(call), numargs);
  if (checked()) {
    // A warning, because clients in use pass GEX_EVENT_NOW (PANDO).
    static std::atomic<bool> warned{false};
    if (client_buf == nullptr && lc_opt != nullptr &&
        !warned.exchange(true, std::memory_order_relaxed))
      warn(
          "%s: lc_opt is to be null without a client buffer; it is complete at once (reported "
          "once)",
          name_of(call));
    if ((flags & GEX_FLAG_SELF_SEG_OFFSET) != 0)
      fatal("%s: GEX_FLAG_SELF_SEG_OFFSET is not for negotiated payload", name_of(call));
    if (client_buf != nullptr) check_local_completion(call, lc_opt, reply);
  }
  complete_locally(lc_opt);
  return {client_buf, least_payload, most_payload, dest_addr, is_long, flags, numargs};
}

/// The limit of least_payload that Prepare must accept.
std::size_t prepare_limit(gex_Rank_t jobrank, bool is_reply, bool is_long, const void* client_buf) {
  if (!is_long) return gex::am::max_medium(jobrank);
  return gex::am::max_long(jobrank, is_reply,
                           client_buf == nullptr ? GEX_FLAG_AM_PREPARE_LEAST_ALLOC : 0);
}

}  // namespace

namespace gex::api {

namespace {

template <class AnyCall>
int send_short_over(AnyCall& call, const gex::am::Route& route, gex::MessageWhat what,
                    gex_Flags_t flags, const gex_AM_Arg_t* args) {
  call.transfers(route.jobrank, 0);
  if (immediate(flags) && !gex::am::may_have_room(route)) return call.returns(1);
  return call.returns(gex::am::send_request(route, message(what, args), immediate(flags)));
}

/// `source_addr` is an address.
template <class AnyCall>
int send_medium_over(AnyCall& call, const gex::am::Route& route, gex::MessageWhat what,
                     const void* source_addr, std::size_t nbytes, gex_Event_t* lc_opt,
                     gex_Flags_t flags, const gex_AM_Arg_t* args) {
  call.transfers(route.jobrank, nbytes);
  check_payload(call, nbytes, gex::am::max_medium(route.jobrank), lc_opt, false);
  Outbound out = message(what, args);
  const gex::OnHost payload(source_addr, nbytes);
  out.payload = payload.get();
  out.size = nbytes;
  if (call.returns(gex::am::send_request(route, out, immediate(flags))) != 0) return 1;
  complete_locally(lc_opt);
  return 0;
}

gex::MessageWhat what_of(const gex::Target& target, gex_AM_Index_t handler, Category category,
                         unsigned numargs) {
  return gex::MessageWhat::make(handler, category, false, numargs,
                                gex::am::endpoints_of(target.local_endpoint, target.endpoint));
}

}  // namespace

int request_short(const am::Route& route, gex::MessageWhat what, gex_Flags_t flags,
                  const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_short, [=](auto& call) noexcept {
    return send_short_over(call, route, what, flags, args);
  });
}

int request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                  unsigned numargs, const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_short, [=](auto& call) noexcept {
    if (call.is_checked()) check_request(call, tm, rank, handler, flags, short_flags);
    const gex::Target target = gex::resolve(tm, rank);
    return send_short_over(call, am::route_to(target.jobrank),
                           what_of(target, handler, Category::short_message, numargs), flags, args);
  });
}

int reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, unsigned numargs,
                const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::reply_short, [=](auto& call) noexcept {
    check_reply(call, token, handler, flags, short_flags);
    call.transfers(token->header.source, 0);
    Outbound out = message(handler, Category::short_message, numargs, args);
    gex::am::send_reply(token, out);
    return 0;
  });
}

int reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                 std::size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs,
                 const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::reply_medium, [=](auto& call) noexcept {
    check_reply(call, token, handler, flags, medium_flags);
    call.transfers(token->header.source, nbytes);
    check_payload(call, nbytes, gex::am::max_medium(token->header.source), lc_opt, true);
    if (call.is_checked()) check_source(call, source_addr, nbytes, flags);
    Outbound out = message(handler, Category::medium, numargs, args);
    const gex::OnHost payload(local_address(source_addr, token->endpoint, flags), nbytes);
    out.payload = payload.get();
    out.size = nbytes;
    gex::am::send_reply(token, out);
    complete_locally(lc_opt);
    return 0;
  });
}

int request_medium(const am::Route& route, gex::MessageWhat what, const void* source_addr,
                   std::size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags,
                   const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_medium, [=](auto& call) noexcept {
    return send_medium_over(call, route, what, source_addr, nbytes, lc_opt, flags, args);
  });
}

int request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void* source_addr,
                   std::size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs,
                   const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_medium, [=](auto& call) noexcept {
    if (call.is_checked()) check_request(call, tm, rank, handler, flags, medium_flags);
    const gex::Target target = gex::resolve(tm, rank);
    if (call.is_checked()) check_source(call, source_addr, nbytes, flags);
    return send_medium_over(
        call, am::route_to(target.jobrank), what_of(target, handler, Category::medium, numargs),
        local_address(source_addr, target.local_endpoint, flags), nbytes, lc_opt, flags, args);
  });
}

gex_AM_SrcDesc_t prepare_request_medium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                        std::size_t least_payload, std::size_t most_payload,
                                        gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs) {
  const InCall call(Call::prepare_request_medium);
  if (checked()) check_start(call, tm, rank, flags, medium_flags | limit_flags);
  const std::size_t limit = prepare_limit(gex::resolve(tm, rank).jobrank, false, false, client_buf);
  return gex::am::prepare_request(
      tm, rank,
      prepare_arguments(call, client_buf, least_payload, most_payload, nullptr, false, false,
                        lc_opt, flags, numargs, limit));
}

int commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, std::size_t nbytes,
                          gex_Flags_t flags, unsigned numargs, const gex_AM_Arg_t* args) {
  InCall call(Call::commit_request_medium);
  check_commit(call, sd, false, false, nbytes, nullptr, numargs, handler, flags);
  record_commit(sd, nbytes);
  Outbound out = message(handler, Category::medium, numargs, args);
  out.size = nbytes;
  return call.returns(gex::am::commit(sd, out, flags));
}

}  // namespace gex::api

extern "C" {

gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t) {
  gex::require(token, __func__);
  if (info == nullptr) fatal("gex_Token_Info: the output pointer is null");
  info->gex_srcrank = token->header.source;
  info->gex_ep = token->endpoint;
  info->gex_entry = &token->endpoint->handlers[token->header.handler()];
  info->gex_is_req = token->header.is_reply() ? 0 : 1;
  info->gex_is_long = token->header.category() == Category::long_message ? 1 : 0;
  return GEX_TI_ALL;
}

int gex_am_request_long_(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                         const void* source_addr, size_t nbytes, void* dest_addr,
                         gex_Event_t* lc_opt, gex_Flags_t flags, unsigned int numargs,
                         const gex_AM_Arg_t* args) {
  InCall call(Call::request_long);
  if (checked()) [[unlikely]]
    check_request(call, tm, rank, handler, flags, long_flags);
  const gex::Target target = gex::resolve(tm, rank);
  gex::trace::transfer(target.jobrank, nbytes);
  check_payload(call, nbytes, gex::am::max_long(target.jobrank, /*is_reply=*/false, 0), lc_opt,
                false);
  if (checked()) check_source(call, source_addr, nbytes, flags);
  Outbound out = message(handler, Category::long_message, numargs, args);
  out.what.set_endpoints(gex::am::endpoints_of(target.local_endpoint, target.endpoint));
  const gex::OnHost payload(local_address(source_addr, target.local_endpoint, flags), nbytes);
  out.payload = payload.get();
  out.size = nbytes;
  out.destination = remote_address(dest_addr, target.segment(), flags);
  const int refused = call.returns(gex::rma::send_long_request(target, out, immediate(flags)));
  if (refused == 0) complete_locally(lc_opt);
  return refused;
}

int gex_am_reply_long_(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                       size_t nbytes, void* dest_addr, gex_Event_t* lc_opt, gex_Flags_t flags,
                       unsigned int numargs, const gex_AM_Arg_t* args) {
  const InCall call(Call::reply_long);
  check_reply(call, token, handler, flags, long_flags);
  gex::trace::transfer(token->header.source, nbytes);
  check_payload(call, nbytes, gex::am::max_long(token->header.source, /*is_reply=*/true, 0), lc_opt,
                true);
  if (checked()) check_source(call, source_addr, nbytes, flags);
  Outbound out = message(handler, Category::long_message, numargs, args);
  const gex::OnHost payload(local_address(source_addr, token->endpoint, flags), nbytes);
  out.payload = payload.get();
  out.size = nbytes;
  out.destination = remote_address(dest_addr, gex::rma::segment_of_requester(token), flags);
  gex::rma::send_long_reply(token, out);
  complete_locally(lc_opt);
  return 0;
}

void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    fatal("gex_AM_SrcDescAddr: the descriptor is GEX_AM_SRCDESC_NO_OP");
  return sd->address;
}
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    fatal("gex_AM_SrcDescSize: the descriptor is GEX_AM_SRCDESC_NO_OP");
  return sd->size;
}

gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                           size_t least_payload, size_t most_payload,
                                           void* dest_addr, gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  const InCall call(Call::prepare_request_long);
  if (checked()) check_start(call, tm, rank, flags, long_flags | limit_flags);
  const std::size_t limit = prepare_limit(gex::resolve(tm, rank).jobrank, false, true, client_buf);
  return gex::am::prepare_request(
      tm, rank,
      prepare_arguments(call, client_buf, least_payload, most_payload, dest_addr, true, false,
                        lc_opt, flags, numargs, limit));
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                           size_t least_payload, size_t most_payload,
                                           gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  const InCall call(Call::prepare_reply_medium);
  check_reply(call, token, flags, medium_flags | limit_flags);
  return gex::am::prepare_reply(
      token, prepare_arguments(call, client_buf, least_payload, most_payload, nullptr, false, true,
                               lc_opt, flags, numargs,
                               prepare_limit(token->header.source, true, false, client_buf)));
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                         size_t least_payload, size_t most_payload, void* dest_addr,
                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                         unsigned int numargs) {
  const InCall call(Call::prepare_reply_long);
  check_reply(call, token, flags, long_flags | limit_flags);
  return gex::am::prepare_reply(
      token, prepare_arguments(call, client_buf, least_payload, most_payload, dest_addr, true, true,
                               lc_opt, flags, numargs,
                               prepare_limit(token->header.source, true, true, client_buf)));
}

int gex_am_commit_reply_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                gex_Flags_t flags, unsigned int numargs, const gex_AM_Arg_t* args) {
  const InCall call(Call::commit_reply_medium);
  check_commit(call, sd, true, false, nbytes, nullptr, numargs, handler, flags);
  record_commit(sd, nbytes);
  Outbound out = message(handler, Category::medium, numargs, args);
  out.size = nbytes;
  return gex::am::commit(sd, out, flags);
}
int gex_am_commit_request_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                void* dest_addr, gex_Flags_t flags, unsigned int numargs,
                                const gex_AM_Arg_t* args) {
  InCall call(Call::commit_request_long);
  check_commit(call, sd, false, true, nbytes, dest_addr, numargs, handler, flags);
  record_commit(sd, nbytes);
  const gex::Target target = gex::resolve(sd->tm, sd->rank);
  Outbound out = message(handler, Category::long_message, numargs, args);
  out.size = nbytes;
  out.destination = remote_address(dest_addr, target.segment(), sd->flags);
  return call.returns(gex::rma::commit_long_request(sd, target, out, flags));
}
int gex_am_commit_reply_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                              void* dest_addr, gex_Flags_t flags, unsigned int numargs,
                              const gex_AM_Arg_t* args) {
  const InCall call(Call::commit_reply_long);
  check_commit(call, sd, true, true, nbytes, dest_addr, numargs, handler, flags);
  record_commit(sd, nbytes);
  Outbound out = message(handler, Category::long_message, numargs, args);
  out.size = nbytes;
  out.destination = remote_address(dest_addr, gex::rma::segment_of_requester(sd->token), sd->flags);
  return gex::rma::commit_long_reply(sd, out, flags);
}

namespace {
int cancel(const InCall& call, gex_AM_SrcDesc_t sd, bool reply, bool is_long, gex_Flags_t flags) {
  check_descriptor(call, sd, reply, is_long);
  gex::require_flags(flags, 0, name_of(call));
  gex::am::cancel(sd);
  return GASNET_OK;
}
}  // namespace

int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel(InCall(Call::cancel_request_medium), sd, false, false, flags);
}
int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel(InCall(Call::cancel_reply_medium), sd, true, false, flags);
}
int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel(InCall(Call::cancel_request_long), sd, false, true, flags);
}
int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  return cancel(InCall(Call::cancel_reply_long), sd, true, true, flags);
}

}  // extern "C"
