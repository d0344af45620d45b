#pragma once
// Active messages that do not go the express way (am_express.cc): what they end with, and the
// general form of their calls, which are in am.cc.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/limits.h"
#include "am/outbound.h"
#include "base/error.h"
#include "core/event.h"
#include "observe/restricted.h"

namespace gex::api {

constexpr bool is_immediate(gex_Flags_t flags) {
  return (flags & GEX_FLAG_IMMEDIATE) != 0;
}

/// Payload is copied before an injection returns: every form of local completion has happened.
inline void complete_locally(gex_Event_t* lc_opt) {
  if (has_variable(lc_opt)) *lc_opt = GEX_EVENT_INVALID;
}

/// In every library: a message that no transport carries.
inline void require_size(Call call, std::size_t nbytes, std::size_t limit) {
  if (nbytes > limit) [[unlikely]]
    fatal("%s: a payload of %zu bytes is above the limit of %zu", name_of(call), nbytes, limit);
}

/// `args` as in Outbound.
inline am::Outbound make_message(MessageWhat what, const gex_AM_Arg_t* args,
                                 const void* payload = nullptr, std::size_t size = 0) {
  am::Outbound message;
  message.what = what;
  message.args = args;
  message.payload = payload;
  message.size = size;
  return message;
}

/// The end of a short or medium request. `call`: an InCall or what replaces it.
template <class AnyCall>
int send_and_complete(AnyCall& call, am::Route route, const am::Outbound& message,
                      gex_Event_t* lc_opt, gex_Flags_t flags) {
  call.transfers(route.jobrank, message.size);
  if (call.returns(am::send_request(route, message, is_immediate(flags))) != 0) return 1;
  complete_locally(lc_opt);
  return 0;
}

/// The end of a short or medium reply.
template <class AnyCall>
int reply_and_complete(const AnyCall& call, gex_Token_t token, am::Route route,
                       const am::Outbound& message, gex_Event_t* lc_opt) {
  call.transfers(route.jobrank, message.size);
  am::send_reply(token, route, message);
  complete_locally(lc_opt);
  return 0;
}

// The general form: of any call, checked or traced. Not inlined: what goes the express way keeps no
// register for them.

[[gnu::noinline]] int general_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                            gex_Flags_t flags, unsigned numargs,
                                            const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int general_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                             const void* source_addr, std::size_t nbytes,
                                             gex_Event_t* lc_opt, gex_Flags_t flags,
                                             unsigned numargs, const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int general_reply_short(gex_Token_t token, gex_AM_Index_t handler,
                                          gex_Flags_t flags, unsigned numargs,
                                          const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int general_reply_medium(gex_Token_t token, gex_AM_Index_t handler,
                                           const void* source_addr, std::size_t nbytes,
                                           gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs,
                                           const gex_AM_Arg_t* args) noexcept;
gex_AM_SrcDesc_t general_prepare_request_medium(gex_TM_t tm, gex_Rank_t rank,
                                                const void* client_buf, std::size_t least_payload,
                                                std::size_t most_payload, gex_Event_t* lc_opt,
                                                gex_Flags_t flags, unsigned numargs);
int general_commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, std::size_t nbytes,
                                  gex_Flags_t flags, unsigned numargs, const gex_AM_Arg_t* args);

}  // namespace gex::api
