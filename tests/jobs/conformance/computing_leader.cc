// Ranks that have arrived at a barrier and compute, without a poll, do not hold up the others, even
// those through which hosts reach each other. In each round one rank of each neighborhood computes,
// and all others must be done meanwhile. They meet in a file, PROGRAM FILE.

#include <gasnet.h>
#include <gasnet_coll.h>

#include <sched.h>
#include <unistd.h>

#include <atomic>

#include "mapped_file.h"
#include "require.h"

namespace {

struct Counts {
  std::atomic<unsigned> begun;    ///< by those that compute
  std::atomic<unsigned> arrived;  ///< by the others
  std::atomic<unsigned> done;
};

Counts& counts_in(const char* path) {
  Counts* const counts = conformance::mapped_file<Counts>(path);
  REQUIRE(counts != nullptr);
  return *counts;
}

void compute_until(const std::atomic<unsigned>& count, unsigned wanted) {
  while (count.load() < wanted) sched_yield();
}

/// When those that compute arrive.
enum class Arrives { first, last };

struct Round {
  Counts& counts;
  unsigned computing;  ///< ranks, in this round and all before
  unsigned others;
};

template <class Start, class Wait>
void meet(const Round& round, bool computes, Arrives when, Start start, Wait wait) {
  auto& [counts, computing, others] = round;
  if (computes) {
    if (when == Arrives::last) compute_until(counts.arrived, others);
    start();
    ++counts.begun;
    compute_until(counts.done, others);
    wait();
    return;
  }
  if (when == Arrives::first) compute_until(counts.begun, computing);
  start();
  ++counts.arrived;
  wait();
  ++counts.done;
  // What they have sent may have to be sent again.
  GASNET_BLOCKUNTIL(counts.done.load() >= others);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(argc == 2);
  unlink(argv[1]);  // of a run that failed: all ranks do before gex_Client_Init returns in one
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "COMPUTING_LEADER", &argc, &argv,
                          GEX_FLAG_USES_GASNET1) == GASNET_OK);
  gex_Segment_t segment;
  REQUIRE(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) == GASNET_OK);
  Counts& counts = counts_in(argv[1]);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gex_RankInfo_t* neighborhood = nullptr;
  gex_Rank_t neighbors = 0;
  gex_Rank_t own_place = 0;
  gex_System_QueryNbrhdInfo(&neighborhood, &neighbors, &own_place);
  const gex_Rank_t ranks = gex_TM_QuerySize(team);
  REQUIRE(ranks % neighbors == 0);

  Round round{counts, 0, 0};
  gex_Event_t event = GEX_EVENT_INVALID;
  const auto start = [&] { event = gex_Coll_BarrierNB(team, 0); };
  const auto wait = [&] { gex_Event_Wait(event); };
  int name = 0;
  const auto notify = [&] { gasnet_barrier_notify(name, 0); };
  const auto wait_named = [&] { REQUIRE(gasnet_barrier_wait(name, 0) == GASNET_OK); };
  for (const gex_Rank_t place : {0U, 1U}) {
    for (const Arrives when : {Arrives::first, Arrives::last}) {
      for (const bool named : {false, true}) {
        round.computing += ranks / neighbors;
        round.others += ranks - ranks / neighbors;
        ++name;
        if (named)
          meet(round, own_place == place, when, notify, wait_named);
        else
          meet(round, own_place == place, when, start, wait);
      }
    }
  }
  // Without another barrier: messages that were sent twice may come to ranks that exit.
  if (gex_TM_QueryRank(team) == 0) unlink(argv[1]);
  gasnet_exit(0);
}
