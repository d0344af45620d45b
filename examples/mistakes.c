// A client in which rank 1 makes the mistake that the argument names, to see how it is reported. It
// needs two ranks: gexrun -n 2 mistakes crash
//
//   beyond   puts behind the end of rank 0's segment; GEX_CHECK=1 refuses that
//   crash    writes through a null pointer
//   leave    returns from main while the others wait for it in a barrier

#include <gasnetex.h>
#include <stdio.h>
#include <string.h>

// Ends the job with status 2 after one line.
static void refuse(gex_TM_t team, const char* line) {
  if (gex_TM_QueryRank(team) == 0) fprintf(stderr, "mistakes: %s\n", line);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(2);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "MISTAKES", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, GASNET_PAGESIZE);

  const char* mistake = argc == 2 ? argv[1] : "";
  if (strcmp(mistake, "beyond") != 0 && strcmp(mistake, "crash") != 0 &&
      strcmp(mistake, "leave") != 0)
    refuse(team, "usage: gexrun -n 2 mistakes beyond|crash|leave");
  if (gex_TM_QuerySize(team) < 2)
    refuse(team, "rank 1 makes the mistake: start two ranks (gexrun -n 2)");

  void* there;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 0, &there, NULL, NULL, 0));
  gex_Rank_t me = gex_TM_QueryRank(team);
  if (me == 1 && strcmp(mistake, "beyond") == 0)
    gex_RMA_PutBlocking(team, 0, (char*)there + GASNET_PAGESIZE, &me, sizeof me, 0);
  if (me == 1 && strcmp(mistake, "crash") == 0) {
    int* volatile nowhere = NULL;  // volatile: compilers leave out what cannot be right
    *nowhere = 1;
  }
  if (me == 1 && strcmp(mistake, "leave") == 0) return 0;

  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  printf("rank %u: the mistake went unnoticed\n", (unsigned)me);
  return 0;
}
