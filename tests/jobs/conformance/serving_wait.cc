// A rank in GASNET_BLOCKUNTIL that serves others meanwhile spins as at first: it does not come to
// give up the core because the wait as a whole lasts. A program of its own for two ranks, whose
// waiting rank sends once and finds the reply by its own polls.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <cstdint>

#include "require.h"

namespace {

int arrived = 0;
void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, GEX_AM_INDEX_BASE + 1, 0);
}
void on_answer(gex_Token_t) {
  ++arrived;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "serving_wait", &argc, &argv, 0) == GASNET_OK);
  gex_AM_Entry_t table[] = {{GEX_AM_INDEX_BASE, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, nullptr, "ask"},
                            {GEX_AM_INDEX_BASE + 1, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                             GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, nullptr, "answer"}};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, table, 2) == GASNET_OK);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) == 0) {
    // What GASNET_BLOCKUNTIL keeps, and calls between two polls.
    std::uint32_t turns = 0;
    gex_wait_pause_(&turns);
    gex_AM_RequestShort0(team, 1, GEX_AM_INDEX_BASE, 0);
    while (arrived == 0) {
      turns = 1000;
      gasnet_AMPoll();
    }
    gex_wait_pause_(&turns);
    REQUIRE(turns == 0);
    // Nothing has arrived since.
    gex_wait_pause_(&turns);
    REQUIRE(turns == 1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
