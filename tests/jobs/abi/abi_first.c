#include "abi_client.h"

#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "abi_client: rank %u: %s\n", (unsigned)gex_System_QueryJobRank(), what);
  return 1;
}

int abi_client_run(int* argc, char*** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Event_t leaf;
  gex_Event_t event;
  gex_Rank_t rank, size, peer, previous;
  void* address = NULL;
  uintptr_t bytes = 0;
  char source[3000], back[3000];
  size_t i;

  if (gex_Client_Init(&client, &endpoint, &team, "ABI", argc, argv, 0) != GASNET_OK)
    return fail("gex_Client_Init");
  rank = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  peer = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  /* One copy of the constants, whoever looks: inline code reads them. */
  if (rank != gex_System_QueryJobRank() || size != gex_System_QueryJobSize())
    return fail("the constants of the process are not this job's");
  if (abi_constants_of_second_unit() != &gex_proc_) return fail("the constants exist twice");
  if (abi_exchange_messages(endpoint, team, peer) != 0) return fail("messages");

  if (gex_Segment_Attach(&segment, team, 2 * GASNET_PAGESIZE) != GASNET_OK)
    return fail("gex_Segment_Attach");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, NULL, &bytes, 0));
  if (bytes != 2 * GASNET_PAGESIZE) return fail("the peer's segment");
  for (i = 0; i < sizeof source; ++i) source[i] = (char)(i * 7 + rank);
  if (gex_RMA_PutBlocking(team, peer, address, source, sizeof source, 0) != 0) return fail("put");
  event = gex_RMA_PutNB(team, peer, (char*)address + 3000, source, sizeof source, &leaf, 0);
  gex_Event_Wait(leaf);
  gex_Event_Wait(event);
  gex_RMA_PutNBI(team, peer, (char*)address + 6000, source, 2000, GEX_EVENT_GROUP, 0);
  gex_NBI_Wait(GEX_EC_PUT | GEX_EC_LC, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (i = 0; i < sizeof source; ++i) {
    const char expected = (char)(i * 7 + previous);
    const char* own = (const char*)gex_Segment_QueryAddr(segment);
    if (own[i] != expected || own[3000 + i] != expected) return fail("a put's bytes");
    if (i < 2000 && own[6000 + i] != expected) return fail("an implicit put's bytes");
  }
  memset(back, 0, sizeof back);
  if (gex_RMA_GetBlocking(team, back, peer, address, sizeof back, 0) != 0) return fail("get");
  if (memcmp(back, source, sizeof back) != 0) return fail("a get's bytes");
  if (gex_RMA_GetBlockingVal(team, peer, address, 1, 0) != (unsigned char)source[0])
    return fail("a value");
  if (gasnet_barrier(5, 0) != GASNET_OK) return fail("gasnet_barrier");
  printf("abi ok %u of %u\n", (unsigned)rank, (unsigned)size);
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
