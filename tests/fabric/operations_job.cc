// A job that does one thing many times, so that a test can count what of it reaches the provider.
// Rank 0 acts, rank 1 serves; further ranks do nothing but start and end.
//
//   operations_job puts|flood|gets|shorts|mediums|adds|patience|deaths COUNT

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <sys/mman.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

#define REQUIRE(condition)                                                                 \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "operations_job: line %d: not so: %s\n", __LINE__, #condition); \
      gasnet_exit(1);                                                                      \
    }                                                                                      \
  } while (0)

gex_TM_t team;
std::uint64_t* words;  ///< of this rank
std::uint64_t* there;  ///< of the other
std::uint64_t arrived = 0;

void on_answer(gex_Token_t) {
  ++arrived;
}
void on_short(gex_Token_t token) {
  gex_AM_ReplyShort0(token, GEX_AM_INDEX_BASE, 0);
}
void on_medium(gex_Token_t token, void*, std::size_t) {
  gex_AM_ReplyShort0(token, GEX_AM_INDEX_BASE, 0);
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

void put(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    REQUIRE(gex_RMA_PutBlocking(team, 1, there + i % 512, &i, sizeof i, 0) == 0);
}
void flood(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i)
    gex_RMA_PutNBI(team, 1, there + i % 512, &i, sizeof i, GEX_EVENT_NOW, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
void get(std::uint64_t count) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    REQUIRE(gex_RMA_GetBlocking(team, &value, 1, there + i % 512, sizeof value, 0) == 0);
}
void send_shorts(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) gex_AM_RequestShort0(team, 1, GEX_AM_INDEX_BASE + 1, 0);
  GASNET_BLOCKUNTIL(arrived == count);
}
void send_mediums(std::uint64_t count) {
  // The largest that fit in one message.
  const std::vector<char> payload(gex_AM_MaxRequestMedium(team, 1, GEX_EVENT_NOW, 0, 0), 'x');
  for (std::uint64_t i = 0; i < count; ++i)
    gex_AM_RequestMedium0(team, 1, GEX_AM_INDEX_BASE + 2, const_cast<char*>(payload.data()),
                          payload.size(), GEX_EVENT_NOW, 0);
  GASNET_BLOCKUNTIL(arrived == count);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "OPERATIONS", &argc, &argv, 0) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) >= 2 && argc == 3);
  gex_Segment_t segment;
  REQUIRE(gex_Segment_Attach(&segment, team, std::size_t{1} << 16) == GASNET_OK);
  gex_AM_Entry_t entries[] = {
      {GEX_AM_INDEX_BASE, reinterpret_cast<gex_AM_Fn_t>(on_answer),
       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "on_answer"},
      {GEX_AM_INDEX_BASE + 1, reinterpret_cast<gex_AM_Fn_t>(on_short),
       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "on_short"},
      {GEX_AM_INDEX_BASE + 2, reinterpret_cast<gex_AM_Fn_t>(on_medium),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, nullptr, "on_medium"},
  };
  REQUIRE(gex_EP_RegisterHandlers(endpoint, entries, 3) == GASNET_OK);
  const gex_Rank_t self = gex_TM_QueryRank(team);
  void* own = nullptr;
  void* others = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, self, &own, nullptr, nullptr, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, self == 0 ? 1 : 0, &others, nullptr, nullptr, 0));
  words = static_cast<std::uint64_t*>(own);
  there = static_cast<std::uint64_t*>(others);
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_XOR | GEX_OP_FXOR, 0);
  words[0] = 5;
  barrier();

  const std::string_view what = argv[1];
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  if (what == "deaths" && self == 1) raise(SIGKILL);
  if (self == 0) {
    if (what == "puts") put(count);
    if (what == "flood") flood(count);
    if (what == "gets") get(count);
    if (what == "shorts" || what == "deaths") send_shorts(count);
    if (what == "mediums") send_mediums(count);
    if (what == "adds") {
      std::uint64_t former = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        gex_Event_Wait(gex_AD_OpNB_U64(domain, &former, 1, there, GEX_OP_FADD, 3, 0, 0));
      REQUIRE(former == 5 + 3 * (count - 1));
      // An operation that a provider may lack although it claims to have it.
      gex_Event_Wait(gex_AD_OpNB_U64(domain, &former, 1, there, GEX_OP_FXOR, 1, 0, 0));
      REQUIRE(former == 5 + 3 * count);
    }
  }
  barrier();
  gasnet_exit(0);
}
