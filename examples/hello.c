#include <gasnetex.h>
#include <stdio.h>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "HELLO", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);

  gex_Rank_t me = gex_TM_QueryRank(team), next = (me + 1) % gex_TM_QuerySize(team);
  void* there;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next, &there, NULL, NULL, 0));
  gex_RMA_PutBlocking(team, next, there, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  gex_Rank_t* here = gex_Segment_QueryAddr(segment);
  printf("rank %u: a put arrived from rank %u\n", (unsigned)me, (unsigned)*here);
  return 0;
}
