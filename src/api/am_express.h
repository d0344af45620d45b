#pragma once
// The entry points of messages that have a shortest way (am_express.cc), for those messages that do
// not go it.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/outbound.h"
#include "core/event.h"

namespace gex::api {

/// Payload is copied before an injection returns: every form of local completion has happened.
inline void complete_locally(gex_Event_t* lc_opt) {
  if (has_variable(lc_opt)) *lc_opt = GEX_EVENT_INVALID;
}

// Not inlined: what takes the shortest way keeps no register for them.

/// Requests whose route has been found already; calls are not checked there.
[[gnu::noinline]] int request_short(const am::Route& route, MessageWhat what, gex_Flags_t flags,
                                    const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int request_medium(const am::Route& route, MessageWhat what,
                                     const void* source_addr, std::size_t nbytes,
                                     gex_Event_t* lc_opt, gex_Flags_t flags,
                                     const gex_AM_Arg_t* args) noexcept;

[[gnu::noinline]] int request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                    gex_Flags_t flags, unsigned numargs,
                                    const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                     const void* source_addr, std::size_t nbytes,
                                     gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs,
                                     const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                  unsigned numargs, const gex_AM_Arg_t* args) noexcept;
[[gnu::noinline]] int reply_medium(gex_Token_t token, gex_AM_Index_t handler,
                                   const void* source_addr, std::size_t nbytes, gex_Event_t* lc_opt,
                                   gex_Flags_t flags, unsigned numargs,
                                   const gex_AM_Arg_t* args) noexcept;

gex_AM_SrcDesc_t prepare_request_medium(gex_TM_t tm, gex_Rank_t rank, const void* client_buf,
                                        std::size_t least_payload, std::size_t most_payload,
                                        gex_Event_t* lc_opt, gex_Flags_t flags, unsigned numargs);
int commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, std::size_t nbytes,
                          gex_Flags_t flags, unsigned numargs, const gex_AM_Arg_t* args);

}  // namespace gex::api
