// Entry points: active messages. Short and medium ones begin in am_express.cc, whose head lists all
// that a message passes; here are their general form, long messages and negotiated payload.

#include <gasnetex.h>

#include <atomic>

#include "am/limits.h"
#include "am/outbound.h"
#include "am/prepare.h"
#include "am/token.h"
#include "api/am_flags.h"
#include "api/am_send.h"
#include "api/require.h"
#include "base/error.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/team.h"
#include "core/thread.h"
#include "observe/in_call.h"
#include "rma/long_message.h"

namespace {

using gex::Call;
using gex::Category;
using gex::checked;
using gex::fatal;
using gex::InCall;
using gex::limit_flags;
using gex::long_flags;
using gex::medium_flags;
using gex::warn;
using gex::am::Outbound;
using gex::am::PrepareArguments;
using gex::am::Route;
using gex::api::complete_locally;
using gex::api::is_immediate;
using gex::api::make_message;
using gex::api::require_size;

/// The start of every request: its target. In checked mode that is checked, as the flags are.
template <class AnyCall>
gex::Target resolve_checked(const AnyCall& call, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags,
                            gex_Flags_t known) {
  if (call.is_checked()) gex::require_peer(tm, rank, name_of(call));
  const gex::Target target = gex::resolve(tm, rank);
  if (call.is_checked()) {
    gex::require_capability(target.local_endpoint, GEX_EP_CAPABILITY_AM, name_of(call));
    gex::require_flags(flags, known, name_of(call));
  }
  return target;
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

/// The target of a request with a handler; both are checked in checked mode, and the flags.
template <class AnyCall>
gex::Target resolve_checked(const AnyCall& call, gex_TM_t tm, gex_Rank_t rank,
                            gex_AM_Index_t handler, gex_Flags_t flags, gex_Flags_t known) {
  const gex::Target target = resolve_checked(call, tm, rank, flags, known);
  if (call.is_checked()) check_handler(name_of(call), handler);
  return target;
}

/// Checked mode.
void check_local_completion(Call call, gex_Event_t* lc_opt, bool reply) {
  if (lc_opt == nullptr) fatal("%s: lc_opt is null", name_of(call));
  if (lc_opt == GEX_EVENT_DEFER)
    fatal("%s: GEX_EVENT_DEFER is not for active messages", name_of(call));
  if (reply && lc_opt == GEX_EVENT_GROUP)
    fatal("%s: GEX_EVENT_GROUP is not for replies", name_of(call));
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

gex::MessageWhat what_of(const gex::Target& target, gex_AM_Index_t handler, Category category,
                         unsigned numargs) {
  return gex::MessageWhat::make(handler, category, /*reply=*/false, numargs,
                                gex::am::endpoints_of(target));
}
/// A prepared message without what its commit adds: direction, endpoints and payload.
Outbound make_prepared(gex_AM_Index_t handler, Category category, unsigned numargs,
                       const gex_AM_Arg_t* args, std::size_t size) {
  return make_message(gex::MessageWhat::make(handler, category, false, numargs, {}), args, nullptr,
                      size);
}

/// Sets where the payload of a long message goes: an address at the peer, or with the flag an
/// offset into its bound segment, `segment`, which outlives the call that sends the message.
void set_destination(Outbound& message, void* address, const gex::PublishedSegment& segment,
                     gex_Flags_t flags) {
  const std::uintptr_t base = (flags & GEX_FLAG_PEER_SEG_OFFSET) == 0 ? 0 : segment.owner_address;
  message.destination = reinterpret_cast<void*>(base + reinterpret_cast<std::uintptr_t>(address));
  message.segment = &segment;
}
const void* local_address(const void* address, gex_EP_t endpoint, gex_Flags_t flags) {
  if ((flags & GEX_FLAG_SELF_SEG_OFFSET) == 0) return address;
  if (endpoint->segment == nullptr) fatal("GEX_FLAG_SELF_SEG_OFFSET without a bound segment");
  return endpoint->segment->address + reinterpret_cast<std::uintptr_t>(address);
}

/// The descriptor is open, the calling thread's, and of the call's kind.
void check_descriptor(Call call, gex_AM_SrcDesc_t sd, bool reply, bool is_long) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    fatal("%s: the descriptor is GEX_AM_SRCDESC_NO_OP", name_of(call));
  if (!sd->is_open()) fatal("%s: the descriptor is not open", name_of(call));
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

void check_prepare(Call call, const PrepareArguments& arguments, std::size_t least_payload,
                   gex_Event_t* lc_opt, bool reply) {
  if (arguments.most_payload < least_payload)
    fatal("%s: most_payload %zu is below least_payload %zu", name_of(call), arguments.most_payload,
          least_payload);
  if (arguments.arg_count > gex_AM_MaxArgs())
    fatal("%s: %u arguments are more than gex_AM_MaxArgs()", name_of(call), arguments.arg_count);
  if (!checked()) return;
  // A warning, because clients in use pass GEX_EVENT_NOW (PANDO).
  static std::atomic<bool> warned{false};
  if (arguments.client_buffer == nullptr && lc_opt != nullptr &&
      !warned.exchange(true, std::memory_order_relaxed))
    warn("%s: lc_opt is to be null without a client buffer; it is complete at once (reported once)",
         name_of(call));
  if ((arguments.flags & GEX_FLAG_SELF_SEG_OFFSET) != 0)
    fatal("%s: GEX_FLAG_SELF_SEG_OFFSET is not for negotiated payload", name_of(call));
  if (arguments.client_buffer != nullptr) check_local_completion(call, lc_opt, reply);
}

/// The part of Prepare that its four calls share; `open` opens the descriptor.
template <class Open>
gex_AM_SrcDesc_t prepare(Call call, const PrepareArguments& arguments, std::size_t least_payload,
                         gex_Event_t* lc_opt, bool reply, Open open) {
  check_prepare(call, arguments, least_payload, lc_opt, reply);
  // Commit copies the payload before it returns.
  complete_locally(lc_opt);
  const gex_AM_SrcDesc_t sd = open();
  if (sd != GEX_AM_SRCDESC_NO_OP && sd->size < least_payload)
    fatal("%s: least_payload %zu is above the limit of %zu", name_of(call), least_payload,
          sd->size);
  return sd;
}

}  // namespace

namespace gex::api {

int general_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                          unsigned numargs, const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_short, [=](auto& call) noexcept {
    const Target target = resolve_checked(call, tm, rank, handler, flags, short_flags);
    const Outbound message =
        make_message(what_of(target, handler, Category::short_message, numargs), args);
    return send_and_complete(call, am::route_to(target.jobrank), message, nullptr, flags);
  });
}

int general_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                           const void* source_addr, std::size_t nbytes, gex_Event_t* lc_opt,
                           gex_Flags_t flags, unsigned numargs, const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::request_medium, [=](auto& call) noexcept {
    const Target target = resolve_checked(call, tm, rank, handler, flags, medium_flags);
    if (call.is_checked()) {
      check_source(call, source_addr, nbytes, flags);
      check_local_completion(call, lc_opt, /*reply=*/false);
    }
    const am::Route route = am::route_to(target.jobrank);
    require_size(call, nbytes, am::max_medium(route));
    const OnHost payload(local_address(source_addr, target.local_endpoint, flags), nbytes);
    const Outbound message = make_message(what_of(target, handler, Category::medium, numargs), args,
                                          payload.get(), nbytes);
    return send_and_complete(call, route, message, lc_opt, flags);
  });
}

int general_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                        unsigned numargs, const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::reply_short, [=](auto& call) noexcept {
    check_reply(call, token, handler, flags, short_flags);
    const Outbound message =
        make_message(am::reply_what(*token, handler, Category::short_message, numargs), args);
    return reply_and_complete(call, token, am::route_back(*token), message, nullptr);
  });
}

int general_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                         std::size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags,
                         unsigned numargs, const gex_AM_Arg_t* args) noexcept {
  return in_call(Call::reply_medium, [=](auto& call) noexcept {
    check_reply(call, token, handler, flags, medium_flags);
    if (call.is_checked()) {
      check_source(call, source_addr, nbytes, flags);
      check_local_completion(call, lc_opt, /*reply=*/true);
    }
    const am::Route route = am::route_back(*token);
    require_size(call, nbytes, am::max_medium(route));
    const OnHost payload(local_address(source_addr, token->endpoint, flags), nbytes);
    const Outbound message = make_message(
        am::reply_what(*token, handler, Category::medium, numargs), args, payload.get(), nbytes);
    return reply_and_complete(call, token, route, message, lc_opt);
  });
}

gex_AM_SrcDesc_t general_prepare_request_medium(gex_TM_t tm, gex_Rank_t rank,
                                                const void* client_buf, std::size_t least_payload,
                                                std::size_t most_payload, gex_Event_t* lc_opt,
                                                gex_Flags_t flags, unsigned numargs) {
  const InCall call(Call::prepare_request_medium);
  const Target target = resolve_checked(call, tm, rank, flags, medium_flags | limit_flags);
  const PrepareArguments arguments{client_buf, most_payload, nullptr, false, flags, numargs};
  return prepare(call, arguments, least_payload, lc_opt, /*reply=*/false,
                 [&]() { return am::prepare_request(target, arguments); });
}

int general_commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, std::size_t nbytes,
                                  gex_Flags_t flags, unsigned numargs, const gex_AM_Arg_t* args) {
  InCall call(Call::commit_request_medium);
  check_commit(call, sd, false, false, nbytes, nullptr, numargs, handler, flags);
  call.transfers(sd->route.jobrank, nbytes);
  Outbound message = make_prepared(handler, Category::medium, numargs, args, nbytes);
  return call.returns(am::commit(sd, message, flags));
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
  const gex::Target target = resolve_checked(call, tm, rank, handler, flags, long_flags);
  if (checked()) {
    check_source(call, source_addr, nbytes, flags);
    check_local_completion(call, lc_opt, /*reply=*/false);
  }
  const Route route = gex::am::route_to(target.jobrank);
  require_size(call, nbytes, gex::am::max_long(route, /*is_reply=*/false, 0));
  const gex::OnHost payload(local_address(source_addr, target.local_endpoint, flags), nbytes);
  Outbound message = make_message(what_of(target, handler, Category::long_message, numargs), args,
                                  payload.get(), nbytes);
  const gex::PublishedSegment segment = target.segment();
  set_destination(message, dest_addr, segment, flags);
  call.transfers(target.jobrank, nbytes);
  const int refused =
      call.returns(gex::rma::send_long_request(target, route, message, is_immediate(flags)));
  if (refused == 0) complete_locally(lc_opt);
  return refused;
}

int gex_am_reply_long_(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                       size_t nbytes, void* dest_addr, gex_Event_t* lc_opt, gex_Flags_t flags,
                       unsigned int numargs, const gex_AM_Arg_t* args) {
  const InCall call(Call::reply_long);
  check_reply(call, token, handler, flags, long_flags);
  if (checked()) {
    check_source(call, source_addr, nbytes, flags);
    check_local_completion(call, lc_opt, /*reply=*/true);
  }
  const Route route = gex::am::route_back(*token);
  require_size(call, nbytes, gex::am::max_long(route, /*is_reply=*/true, 0));
  const gex::OnHost payload(local_address(source_addr, token->endpoint, flags), nbytes);
  Outbound message =
      make_message(gex::am::reply_what(*token, handler, Category::long_message, numargs), args,
                   payload.get(), nbytes);
  const gex::PublishedSegment segment = gex::rma::segment_of_requester(token);
  set_destination(message, dest_addr, segment, flags);
  call.transfers(route.jobrank, nbytes);
  gex::rma::send_long_reply(token, route, message);
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
  const gex::Target target = resolve_checked(call, tm, rank, flags, long_flags | limit_flags);
  const PrepareArguments arguments{client_buf, most_payload, dest_addr, true, flags, numargs};
  return prepare(call, arguments, least_payload, lc_opt, /*reply=*/false,
                 [&]() { return gex::am::prepare_request(target, arguments); });
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                           size_t least_payload, size_t most_payload,
                                           gex_Event_t* lc_opt, gex_Flags_t flags,
                                           unsigned int numargs) {
  const InCall call(Call::prepare_reply_medium);
  check_reply(call, token, flags, medium_flags | limit_flags);
  const PrepareArguments arguments{client_buf, most_payload, nullptr, false, flags, numargs};
  return prepare(call, arguments, least_payload, lc_opt, /*reply=*/true,
                 [&]() { return gex::am::prepare_reply(token, arguments); });
}

gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                         size_t least_payload, size_t most_payload, void* dest_addr,
                                         gex_Event_t* lc_opt, gex_Flags_t flags,
                                         unsigned int numargs) {
  const InCall call(Call::prepare_reply_long);
  check_reply(call, token, flags, long_flags | limit_flags);
  const PrepareArguments arguments{client_buf, most_payload, dest_addr, true, flags, numargs};
  return prepare(call, arguments, least_payload, lc_opt, /*reply=*/true,
                 [&]() { return gex::am::prepare_reply(token, arguments); });
}

int gex_am_commit_reply_medium_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                gex_Flags_t flags, unsigned int numargs, const gex_AM_Arg_t* args) {
  const InCall call(Call::commit_reply_medium);
  check_commit(call, sd, true, false, nbytes, nullptr, numargs, handler, flags);
  call.transfers(sd->route.jobrank, nbytes);
  Outbound message = make_prepared(handler, Category::medium, numargs, args, nbytes);
  return gex::am::commit(sd, message, flags);
}
int gex_am_commit_request_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                void* dest_addr, gex_Flags_t flags, unsigned int numargs,
                                const gex_AM_Arg_t* args) {
  InCall call(Call::commit_request_long);
  check_commit(call, sd, false, true, nbytes, dest_addr, numargs, handler, flags);
  call.transfers(sd->route.jobrank, nbytes);
  const gex::Target target = gex::am::target_of(*sd);
  const gex::PublishedSegment segment = target.segment();
  Outbound message = make_prepared(handler, Category::long_message, numargs, args, nbytes);
  set_destination(message, dest_addr, segment, sd->flags);
  return call.returns(gex::rma::commit_long_request(sd, target, message, flags));
}
int gex_am_commit_reply_long_(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                              void* dest_addr, gex_Flags_t flags, unsigned int numargs,
                              const gex_AM_Arg_t* args) {
  const InCall call(Call::commit_reply_long);
  check_commit(call, sd, true, true, nbytes, dest_addr, numargs, handler, flags);
  call.transfers(sd->route.jobrank, nbytes);
  const gex::PublishedSegment segment = gex::rma::segment_of_requester(sd->token);
  Outbound message = make_prepared(handler, Category::long_message, numargs, args, nbytes);
  set_destination(message, dest_addr, segment, sd->flags);
  return gex::rma::commit_long_reply(sd, message, flags);
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
