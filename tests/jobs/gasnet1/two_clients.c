/* A client of GASNet-EX and one of GASNet-1 side by side in one process, made one after the other,
 * neither of which depends on the other: each has its handlers, its segment and its team. `ex`
 * makes the one of GASNet-EX first, `gasnet1` the other one.
 */
#include "program.h"

enum { ex_pages = 3, gasnet1_pages = 5, shared_index = 200 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Segment_t segment;

static volatile int seen_by_ex;
static volatile int seen_by_gasnet1;
static void on_ex(gex_Token_t token) {
  (void)token;
  seen_by_ex = seen_by_ex + 1;
}
static void on_gasnet1(gasnet_token_t token) {
  (void)token;
  seen_by_gasnet1 = seen_by_gasnet1 + 1;
}

static void make_ex_client(int* argc, char*** argv) {
  gex_AM_Entry_t entry;
  memset(&entry, 0, sizeof entry);
  entry.gex_index = shared_index;
  entry.gex_fnptr = HANDLER(on_ex);
  entry.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "BESIDE", argc, argv, 0) == GASNET_OK);
  REQUIRE(gex_EP_RegisterHandlers(endpoint, &entry, 1) == GASNET_OK);
  REQUIRE(gex_Segment_Attach(&segment, team, ex_pages * GASNET_PAGESIZE) == GASNET_OK);
}

static void* ex_segment_of(gex_Rank_t rank) {
  void* address;
  uintptr_t size;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &address, NULL, &size, 0));
  REQUIRE(size == ex_pages * GASNET_PAGESIZE);
  return address;
}

int main(int argc, char** argv) {
  const int ex_first = argc > 1 && strcmp(argv[1], "ex") == 0;
  gasnet_handlerentry_t table[] = {{shared_index, HANDLER(on_gasnet1)}};
  gex_Client_t gasnet1_client;
  gex_TM_t gasnet1_team;
  gex_Segment_t gasnet1_segment;
  gasnet_node_t node;
  gasnet_node_t me;
  int round;
  if (ex_first) make_ex_client(&argc, &argv);
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);
  if (ex_first) {
    /* What keeps the one from communicating is no business of the other. */
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  REQUIRE(gasnet_attach(table, 1, gasnet1_pages * GASNET_PAGESIZE, 0) == GASNET_OK);
  if (!ex_first) make_ex_client(&argc, &argv);

  gasnet_QueryGexObjects(&gasnet1_client, NULL, &gasnet1_team, &gasnet1_segment);
  REQUIRE(gasnet1_client != client && gasnet1_team != team && gasnet1_segment != segment);
  REQUIRE(gex_Client_QueryFlags(gasnet1_client) == GEX_FLAG_USES_GASNET1);
  REQUIRE(gex_Segment_QuerySize(gasnet1_segment) == gasnet1_pages * GASNET_PAGESIZE);
  segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof(gasnet_seginfo_t));
  REQUIRE(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK);
  me = gasnet_mynode();
  REQUIRE(segments[me].addr == gex_Segment_QueryAddr(gasnet1_segment));

  for (round = 0; round < 5; ++round) {
    const uint64_t mine = 1000u * (unsigned)round + me;
    const gex_Rank_t next = (me + 1) % gasnet_nodes();
    const gex_Rank_t previous = (me + gasnet_nodes() - 1) % gasnet_nodes();
    uint64_t word;
    /* The same place of either segment, from either client. */
    gasnet_put_nbi_val(next, (char*)segments[next].addr + 8 * round, mine, 8);
    gex_RMA_PutBlockingVal(team, next, (char*)ex_segment_of(next) + 8 * round, ~mine, 8, 0);
    gasnet_wait_syncnbi_puts();
    gasnet_memset(next, (char*)segments[next].addr + 64, round + 1, 8);
    REQUIRE(gasnet_barrier(round, 0) == GASNET_OK);
    memcpy(&word, (char*)segments[me].addr + 8 * round, 8);
    REQUIRE(word == 1000u * (unsigned)round + previous);
    memcpy(&word, (char*)gex_Segment_QueryAddr(segment) + 8 * round, 8);
    REQUIRE(word == ~(uint64_t)(1000u * (unsigned)round + previous));
    REQUIRE(((char*)segments[me].addr)[64] == round + 1);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    /* One index, two handlers. */
    for (node = 0; node < gasnet_nodes(); ++node) {
      REQUIRE(gasnet_AMRequestShort0(node, shared_index) == GASNET_OK);
      REQUIRE(gex_AM_RequestShort0(team, node, shared_index, 0) == 0);
      REQUIRE(gex_AM_RequestShort0(team, node, shared_index, 0) == 0);
    }
    GASNET_BLOCKUNTIL(seen_by_gasnet1 == (round + 1) * (int)gasnet_nodes());
    GASNET_BLOCKUNTIL(seen_by_ex == 2 * (round + 1) * (int)gasnet_nodes());
    gex_Event_Wait(gex_Coll_BarrierNB(gasnet1_team, 0));
  }
  finish();
  return 0;
}
