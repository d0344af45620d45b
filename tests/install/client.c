/* A client as small as one can be that still shows where it runs: each rank puts its number into
 * the segment of the next one, and rank 0 reports how the program was compiled. C11, C++11 and
 * C++20.
 */
#include <gasnetex.h>
#include <stdio.h>

#if GASNET_SEQ
#define THREADS "SEQ"
#elif GASNET_PARSYNC
#define THREADS "PARSYNC"
#else
#define THREADS "PAR"
#endif

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Rank_t me, size, arrived, neighbors;
  void* there = 0;
  gex_Client_Init(&client, &endpoint, &team, "INSTALLED", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);
  me = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, (me + 1) % size, &there, 0, 0, 0));
  gex_RMA_PutBlocking(team, (me + 1) % size, there, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  arrived = *(gex_Rank_t*)gex_Segment_QueryAddr(segment);
  gex_System_QueryNbrhdInfo(0, &neighbors, 0);
  printf("rank %u of %u: %s %s, %u in the neighborhood, %s\n", (unsigned)me, (unsigned)size,
         GASNET_CONDUIT_NAME_STR, THREADS, (unsigned)neighbors,
         arrived == (me + size - 1) % size ? "right" : "wrong");
  return 0;
}
