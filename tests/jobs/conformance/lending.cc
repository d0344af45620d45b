// Credits over a network that holds few messages: a rank that needs more than its share gets what
// the others do not use, and they get it back. A program of its own, since it depends on what the
// network is set to: run with GEX_EMU=total=12 by four ranks, of which each then has two credits
// with each other and six more to lend.

#include <gasnetex.h>

#include <initializer_list>

#include "require.h"

namespace {

constexpr gex_Rank_t ranks = 4;
constexpr int share = 2;
constexpr int bank = 6;

gex_TM_t team;
int answers = 0;

enum Handler : gex_AM_Index_t { ask = GEX_AM_INDEX_BASE, answer };

void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, answer, 0);
}
void on_answer(gex_Token_t) {
  ++answers;
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

/// How many requests the peer may be sent before it answers any. Polls, which an IMMEDIATE request
/// does not, nor BLOCKUNTIL what holds already: credits that earlier requests have out, a
/// barrier's, come back by it.
int allowance(gex_Rank_t peer) {
  REQUIRE(gasnet_AMPoll() == GASNET_OK);
  const int before = answers;
  int sent = 0;
  while (gex_AM_RequestShort0(team, peer, ask, GEX_FLAG_IMMEDIATE) == 0) ++sent;
  GASNET_BLOCKUNTIL(answers == before + sent);
  return sent;
}

/// Credits that no other rank uses come to the one that needs them, in time: the others may have to
/// be given a processor before they can give it back.
void one_after_the_other() {
  for (const gex_Rank_t needy : {0U, 2U, 3U, 0U}) {
    barrier();
    if (gex_TM_QueryRank(team) != needy) continue;
    int max = 0;
    while (max < share + bank) {
      const int now = allowance(1);
      REQUIRE(now <= share + bank);
      if (now > max) max = now;
    }
  }
  barrier();
}

void all_at_once() {
  constexpr int each = 3000;
  const gex_Rank_t me = gex_TM_QueryRank(team);
  const int before = answers;
  int sent = 0;
  for (int i = 0; i < each; ++i)
    for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
      // Rank 1 is asked most, and asks no other.
      if (me == 1 || (peer != 1 && i % 8 != 0)) continue;
      REQUIRE(gex_AM_RequestShort0(team, peer, ask, 0) == 0);
      ++sent;
    }
  GASNET_BLOCKUNTIL(answers == before + sent);
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "LENDING", &argc, &argv, 0) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) == ranks);
  gex_AM_Entry_t table[] = {{ask, reinterpret_cast<gex_AM_Fn_t>(&on_ask),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr, "ask"},
                            {answer, reinterpret_cast<gex_AM_Fn_t>(&on_answer),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "answer"}};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, table, 2) == GASNET_OK);
  barrier();
  one_after_the_other();
  all_at_once();
  one_after_the_other();
  return 0;
}
