#pragma once
// A program of misuse: PROGRAM CASE runs one case of a table between two ranks or more, of which
// each has a segment. A case that comes through exits with status 0.

#include <gasnetex.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace misuse {

inline gex_Client_t client;
inline gex_EP_t endpoint;
inline gex_TM_t team;
inline gex_Segment_t segment;
inline gex_Rank_t rank;
inline gex_Rank_t peer;
inline char* own = nullptr;           ///< the own segment
inline char* peers = nullptr;         ///< the peer's, in its addresses
inline gex_Flags_t client_flags = 0;  ///< given to gex_Client_Init
inline constexpr std::size_t segment_bytes = 4 * GASNET_PAGESIZE;

using Cases = std::map<std::string, std::function<void()>>;

inline void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

inline std::function<void()> in_restricted_context;
inline volatile bool handled = false;
inline void on_request(gex_Token_t) {
  in_restricted_context();
  handled = true;
}

/// The part of a case that runs inside a handler: request 200, of this rank to itself.
inline void in_handler(std::function<void()> call) {
  in_restricted_context = std::move(call);
  gex_AM_RequestShort0(team, rank, 200, 0);
  GASNET_BLOCKUNTIL(handled);
}

inline void (*with_token)(gex_Token_t) = nullptr;
inline void on_request_with_token(gex_Token_t token) {
  with_token(token);
  handled = true;
}

inline void on_reply(gex_Token_t) {
}

/// The part of a case that has the token of a request, 201, of this rank to itself; 202 is for its
/// reply.
inline void in_request_handler(void (*call)(gex_Token_t)) {
  with_token = call;
  gex_AM_Entry_t entries[] = {
      {201, reinterpret_cast<gex_AM_Fn_t>(on_request_with_token),
       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "on_request_with_token"},
      {202, reinterpret_cast<gex_AM_Fn_t>(on_reply), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0,
       nullptr, "on_reply"}};
  gex_EP_RegisterHandlers(endpoint, entries, 2);
  gex_AM_RequestShort0(team, rank, 201, 0);
  GASNET_BLOCKUNTIL(handled);
}

/// The program's main; `finish` follows a case that has come through.
inline int run(
    int argc, char** argv, const char* program, const Cases& cases, void (*finish)() = [] {}) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto found = cases.find(name);
  if (found == cases.end()) {
    std::fprintf(stderr, "%s: no case '%s'\n", program, name.c_str());
    return 99;
  }
  if (gex_Client_Init(&client, &endpoint, &team, "MISUSE", &argc, &argv, client_flags) != GASNET_OK)
    return 98;
  gex_AM_Entry_t table[] = {{200, reinterpret_cast<gex_AM_Fn_t>(on_request),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "on_request"}};
  if (gex_EP_RegisterHandlers(endpoint, table, 1) != GASNET_OK) return 97;
  if (gex_Segment_Attach(&segment, team, segment_bytes) != GASNET_OK) return 96;
  own = static_cast<char*>(gex_Segment_QueryAddr(segment));
  rank = gex_TM_QueryRank(team);
  peer = (rank + 1) % gex_TM_QuerySize(team);
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, nullptr, nullptr, 0));
  peers = static_cast<char*>(address);
  barrier();
  found->second();
  finish();
  barrier();
  return 0;
}

}  // namespace misuse
