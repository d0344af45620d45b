// A client of many ranks: starts, attaches and meets the others, at barriers of both kinds.
//
//   GEX_VERBOSE=1 gexrun -n 64 scale_probe BARRIERS

#include <gasnet.h>

#include <cstdlib>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  if (gex_Client_Init(&client, &endpoint, &team, "scale_probe", &argc, &argv,
                      GEX_FLAG_USES_GASNET1) != GASNET_OK)
    return 1;
  gex_Segment_t segment;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) return 2;
  const int barriers = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int i = 0; i < barriers; ++i) gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (int i = 0; i < barriers; ++i) {
    gasnet_barrier_notify(i, 0);
    if (gasnet_barrier_wait(i, 0) != GASNET_OK) return 3;
  }
  return 0;
}
