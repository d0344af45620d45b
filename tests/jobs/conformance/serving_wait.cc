// What a rank does with its core while it waits. One in GASNET_BLOCKUNTIL that serves others
// meanwhile spins as at first: it does not come to give up the core because the wait as a whole
// lasts. One that waits for long, in whatever call, leaves the core to others. A program of its own
// for two ranks, of which one sends once and finds the reply by its own polls.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <time.h>

#include <cstdint>
#include <cstdio>

#include "require.h"

namespace {

int arrived = 0;
void on_ask(gex_Token_t token) {
  gex_AM_ReplyShort0(token, GEX_AM_INDEX_BASE + 1, 0);
}
void on_answer(gex_Token_t) {
  ++arrived;
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec time;
  REQUIRE(clock_gettime(clock, &time) == 0);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Rank 0 is late; the other one waits meanwhile, and uses little of its core.
template <class Late, class Wait>
void wait_long(gex_TM_t team, const char* what, Late&& late, Wait&& wait) {
  // The share of the time for which it may run: it spins for less than a millisecond, and looks now
  // and then.
  constexpr std::int64_t share = 8;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) == 0) {
    const timespec busy{0, 100'000'000};
    REQUIRE(nanosleep(&busy, nullptr) == 0);
    late();
    return;
  }
  const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
  const std::int64_t used_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  wait();
  const std::int64_t used = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used_before;
  const std::int64_t took = nanoseconds(CLOCK_MONOTONIC) - begin;
  if (used * share > took)
    std::fprintf(stderr, "%s: %.1f ms of processor time in %.1f ms\n", what,
                 static_cast<double>(used) / 1e6, static_cast<double>(took) / 1e6);
  REQUIRE(used * share <= took);
}

void wait_long_in_each_call(gex_TM_t team) {
  const auto barrier = [team] { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); };
  wait_long(team, "a barrier", barrier, barrier);
  const auto reduction = [team] {
    std::int32_t sum = 0;
    const std::int32_t one = 1;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, &one, GEX_DT_I32, sizeof one, 1, GEX_OP_ADD,
                                          nullptr, nullptr, 0));
    REQUIRE(sum == 2);
  };
  wait_long(team, "a reduction", reduction, reduction);
  arrived = 0;
  wait_long(
      team, "GASNET_BLOCKUNTIL",
      [team] { gex_AM_RequestShort0(team, 1, GEX_AM_INDEX_BASE + 1, 0); },
      [] { GASNET_BLOCKUNTIL(arrived == 1); });
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
                             GEX_FLAG_AM_REQREP | GEX_FLAG_AM_SHORT, 0, nullptr, "answer"}};
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
  wait_long_in_each_call(team);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
