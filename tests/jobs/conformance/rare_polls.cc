// A rank that polls now and then takes in what has arrived meanwhile, and not one message a poll.
// A program of its own for two ranks: the bodies of the suite also run over networks that show when
// a message arrives.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <cstddef>
#include <vector>

#include "require.h"
#include "signs.h"

namespace {

/// The bytes that the memory of a connection holds for sure at the start: 128 KiB, of which headers
/// and the like take a part.
constexpr int sent = 16;
constexpr int wanted = 14;
constexpr std::size_t bytes = 8192;

int arrived = 0;
void on_block(gex_Token_t, void*, std::size_t) {
  ++arrived;
}

}  // namespace

int main(int argc, char** argv) {
  Signs signs;
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "RARE_POLLS", &argc, &argv, 0) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) == 2);
  gex_AM_Entry_t entry{GEX_AM_INDEX_BASE,
                       reinterpret_cast<gex_AM_Fn_t>(on_block),
                       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST,
                       0,
                       nullptr,
                       "on_block"};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, &entry, 1) == GASNET_OK);
  signs.introduce(team);

  const std::vector<char> block(bytes, 'x');
  for (int round = 0; round < 5; ++round) {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (gex_TM_QueryRank(team) == 0) {
      // Until the other has left the barrier, in which it polls.
      signs.wait();
      for (int i = 0; i < sent; ++i)
        gex_AM_RequestMedium0(team, 1, GEX_AM_INDEX_BASE, block.data(), bytes, GEX_EVENT_NOW, 0);
      // A network may need the sender's polls to bring on its way what it has accepted.
      for (int i = 0; i < 100; ++i) gasnet_AMPoll();
      signs.give(1);
    } else {
      // Also a rank that has waited for a while, and found nothing, takes in all of them.
      for (int i = 0; i < 5; ++i) gasnet_AMPoll();
      signs.give(0);
      signs.wait();
      REQUIRE(arrived == 0);
      gasnet_AMPoll();
      REQUIRE(arrived >= wanted);
      GASNET_BLOCKUNTIL(arrived == sent);
      arrived = 0;
    }
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
