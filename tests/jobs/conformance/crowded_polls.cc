// Ranks that share a core and wait in loops of their own, with nothing in them but a poll, hand the
// core over to one another, as they do when they wait in the library. A program of its own for two
// ranks, whose cores the launcher leaves alone: it binds them to one, and compares the median times
// of round trips.

#include <gasnet_coll.h>
#include <gasnetex.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "require.h"

namespace {

/// A time slice is a thousand round trips that hand the core over.
constexpr double max_of_waits = 50;
constexpr int round_trips = 101;

int arrived = 0;
void on_ball(gex_Token_t) {
  ++arrived;
}

void bind_to_first_core() {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  CPU_ZERO(&allowed);
  CPU_SET(core, &allowed);
  REQUIRE(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
}

template <class WaitForBall>
double median_of_round_trips(gex_TM_t team, WaitForBall&& wait_for_ball) {
  const gex_Rank_t self = gex_TM_QueryRank(team);
  std::vector<double> times;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (int i = 0; i < round_trips; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (self == 1) wait_for_ball();
    gex_AM_RequestShort0(team, 1 - self, GEX_AM_INDEX_BASE, 0);
    if (self == 0) wait_for_ball();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + round_trips / 2, times.end());
  return times[round_trips / 2];
}

}  // namespace

int main(int argc, char** argv) {
  bind_to_first_core();
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "CROWDED_POLLS", &argc, &argv, 0) ==
          GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) == 2);
  gex_AM_Entry_t entry{GEX_AM_INDEX_BASE,
                       reinterpret_cast<gex_AM_Fn_t>(on_ball),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                       0,
                       nullptr,
                       "on_ball"};
  REQUIRE(gex_EP_RegisterHandlers(endpoint, &entry, 1) == GASNET_OK);

  int expected = 0;
  const double of_waits = median_of_round_trips(team, [&] {
    ++expected;
    GASNET_BLOCKUNTIL(arrived == expected);
  });
  const double of_polls = median_of_round_trips(team, [&] {
    ++expected;
    while (arrived != expected) gasnet_AMPoll();
  });
  if (of_polls > max_of_waits * of_waits)
    std::fprintf(stderr, "a round trip takes %.1f us with polls, %.1f us with waits\n",
                 of_polls * 1e6, of_waits * 1e6);
  REQUIRE(of_polls <= max_of_waits * of_waits);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
