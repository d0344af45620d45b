// A client of many ranks: starts, attaches, meets the others at barriers of both kinds, makes a
// team of every other rank, and calls each collective once, of a word of each rank.
//
//   GEX_VERBOSE=1 gexrun -n 64 scale_probe BARRIERS

#include <gasnet.h>
#include <gasnet_coll.h>

#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// Returns true if all results are right.
bool call_collectives(gex_TM_t team) {
  const std::uint64_t size = gex_TM_QuerySize(team);
  const std::uint64_t rank = gex_TM_QueryRank(team);
  std::uint64_t word = rank == 0 ? 42 : 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &word, &word, sizeof word, 0));
  std::uint64_t one = 0;
  std::uint64_t all = 0;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(team, 0, &one, &rank, GEX_DT_U64, sizeof one, 1, GEX_OP_ADD,
                                        nullptr, nullptr, 0));
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &all, &rank, GEX_DT_U64, sizeof all, 1, GEX_OP_ADD,
                                        nullptr, nullptr, 0));
  const std::uint64_t sum = size * (size - 1) / 2;
  bool right = word == 42 && all == sum && (rank != 0 || one == sum);

  constexpr int flags = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
  std::uint64_t own = rank;
  std::vector<std::uint64_t> gathered(size);
  gasnet_coll_gather_all(team, gathered.data(), &own, sizeof own, flags);
  std::vector<std::uint64_t> given(size);
  std::vector<std::uint64_t> exchanged(size);
  for (std::uint64_t to = 0; to < size; ++to) given[to] = rank * size + to;
  gasnet_coll_exchange(team, exchanged.data(), given.data(), sizeof own, flags);
  for (std::uint64_t from = 0; from < size; ++from)
    right = right && gathered[from] == from && exchanged[from] == from * size + rank;
  return right;
}

/// Prints how much memory this process's page tables take.
void print_page_tables(gex_Rank_t rank) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmPTE:"))
      std::fprintf(stderr, "rank %u: page tables: %s\n", rank, line.c_str() + 6);
}

/// Prints how many bytes of this process's heap are in use.
void print_heap(gex_Rank_t rank) {
  const struct mallinfo2 heap = mallinfo2();
  std::fprintf(stderr, "rank %u: heap: %zu bytes\n", rank, heap.uordblks + heap.hblkhd);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  if (gex_Client_Init(&client, &endpoint, &team, "scale_probe", &argc, &argv,
                      GEX_FLAG_USES_GASNET1) != GASNET_OK)
    return 1;
  gex_Segment_t segment;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) return 2;
  print_heap(gex_TM_QueryRank(team));
  const int barriers = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int i = 0; i < barriers; ++i) gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (int i = 0; i < barriers; ++i) {
    gasnet_barrier_notify(i, 0);
    if (gasnet_barrier_wait(i, 0) != GASNET_OK) return 3;
  }
  gex_TM_t half;
  gex_TM_Split(&half, team, static_cast<int>(gex_TM_QueryRank(team) % 2), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  print_page_tables(gex_TM_QueryRank(team));
  return call_collectives(team) ? 0 : 4;
}
