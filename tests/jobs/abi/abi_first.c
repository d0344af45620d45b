#include "abi_client.h"

#include <gasnet_ratomic.h>
#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
  fprintf(stderr, "abi_client: rank %u: %s\n", (unsigned)gex_System_QueryJobRank(), what);
  return 1;
}

/* Operations from a table, so that the compiler cannot see them, and one that it can, on a
 * word of the peer's; inline or not, as this unit is compiled. */
static int exchange_atomics(gex_TM_t team, gex_Rank_t peer, void* at) {
  static const struct {
    gex_OP_t operation;
    int64_t operand, old;
  } steps[] = {{GEX_OP_SET, 40, -1}, {GEX_OP_FADD, 2, 40}, {GEX_OP_SUB, 12, -1},
               {GEX_OP_FXOR, 5, 30}, {GEX_OP_MAX, 28, -1}, {GEX_OP_GET, 0, 28}};
  gex_AD_t domain;
  int64_t old = -1;
  size_t i;
  int wrong = 0;
  gex_AD_Create(&domain, team, GEX_DT_I64,
                GEX_OP_SET | GEX_OP_FADD | GEX_OP_SUB | GEX_OP_FXOR | GEX_OP_MAX | GEX_OP_GET, 0);
  for (i = 0; i < sizeof steps / sizeof *steps; ++i) {
    old = -1;
    if (i % 2 == 0) {
      gex_AD_OpNBI_I64(domain, &old, peer, at, steps[i].operation, steps[i].operand, 0, 0);
      gex_NBI_Wait(GEX_EC_ALL, 0);
    } else {
      gex_Event_Wait(gex_AD_OpNB_I64(domain, &old, peer, at, steps[i].operation, steps[i].operand,
                                     0, GEX_FLAG_RANK_IS_JOBRANK));
    }
    wrong += old != steps[i].old;
  }
  gex_Event_Wait(gex_AD_OpNB_I64(domain, &old, peer, at, GEX_OP_FADD, 1, 0, 0));
  wrong += old != 28;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gex_AD_Destroy(domain);
  return wrong;
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
  /* One copy of the constants for all who read: inline code reads them. */
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
  if (exchange_atomics(team, peer, (char*)address + 8000) != 0) return fail("atomics");
  if (gasnet_barrier(5, 0) != GASNET_OK) return fail("gasnet_barrier");
  printf("abi ok %u of %u\n", (unsigned)rank, (unsigned)size);
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return 0;
}
