// Ranks that have arrived at a barrier, or begun a broadcast or a sum of few bytes, and compute,
// without a poll, do not hold up the others, even those through which hosts reach each other. In
// each round one rank of each neighborhood computes, and all others must be done meanwhile. They
// meet in a file, PROGRAM FILE.

#include <gasnet.h>
#include <gasnet_coll.h>

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "mapped_file.h"
#include "require.h"

namespace {

struct Counts {
  std::atomic<unsigned> begun;    ///< by those that compute
  std::atomic<unsigned> arrived;  ///< by the others
  std::atomic<unsigned> done;
  std::atomic<unsigned> over;  ///< by those that compute
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
    // What the others have made of this rank's part comes before it has done its own.
    gasnet_AMPoll();
    wait();
    ++counts.over;
  } else {
    if (when == Arrives::first) compute_until(counts.begun, computing);
    start();
    ++counts.arrived;
    wait();
    ++counts.done;
  }
  // What was sent may have to be sent again, and one that has computed may need it.
  GASNET_BLOCKUNTIL(counts.done.load() >= others && counts.over.load() >= computing);
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
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  REQUIRE(ranks % neighbors == 0);

  Round round{counts, 0, 0};
  gex_Event_t event = GEX_EVENT_INVALID;
  const auto start = [&] { event = gex_Coll_BarrierNB(team, 0); };
  const auto wait = [&] { gex_Event_Wait(event); };
  int name = 0;
  const auto notify = [&] { gasnet_barrier_notify(name, 0); };
  const auto wait_named = [&] { REQUIRE(gasnet_barrier_wait(name, 0) == GASNET_OK); };
  gex_Rank_t root = 0;
  std::uint64_t value = 0;
  const auto value_of = [&](gex_Rank_t of) {
    return std::uint64_t{1000} * static_cast<unsigned>(name) + of;
  };
  const auto start_broadcast = [&] {
    value = value_of(rank);
    event = gex_Coll_BroadcastNB(team, root, &value, &value, sizeof value, 0);
  };
  const auto wait_broadcast = [&] {
    wait();
    REQUIRE(value == value_of(root));
  };
  std::uint64_t sum = 0;
  const auto start_sum = [&] {
    value = value_of(rank);
    event = gex_Coll_ReduceToAllNB(team, &sum, &value, GEX_DT_U64, sizeof value, 1, GEX_OP_ADD,
                                   nullptr, nullptr, 0);
  };
  const auto wait_sum = [&] {
    wait();
    REQUIRE(sum == ranks * value_of(0) + ranks * (ranks - 1) / 2);
  };
  for (const gex_Rank_t place : {0U, 1U}) {
    for (const Arrives when : {Arrives::first, Arrives::last}) {
      const auto meet_in_round = [&](auto start_one, auto wait_for_it) {
        round.computing += ranks / neighbors;
        round.others += ranks - ranks / neighbors;
        ++name;
        meet(round, own_place == place, when, start_one, wait_for_it);
      };
      meet_in_round(start, wait);
      meet_in_round(notify, wait_named);
      root = when == Arrives::first ? 0 : 1;
      meet_in_round(start_broadcast, wait_broadcast);
      meet_in_round(start_sum, wait_sum);
    }
  }
  // Without another barrier: messages that were sent twice may come to ranks that exit.
  if (rank == 0) unlink(argv[1]);
  gasnet_exit(0);
}
