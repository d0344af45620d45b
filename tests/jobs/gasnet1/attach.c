/* gasnet_init and gasnet_attach: what may be called when, which errors they answer with, on which
 * ranks; segments that differ by rank. `attach checked` leaves out what a checking library ends the
 * job for.
 */
#include "program.h"

static volatile int seen;
static void on_request(gasnet_token_t token) {
  (void)token;
  ++seen;
}

static void* hook_address;
static uintptr_t hook_size = 12345;
static int hook_calls;
static void on_attach(void* address, uintptr_t size) {
  hook_address = address;
  hook_size = size;
  ++hook_calls;
}

/* One rank's mistake is an error on all, and a matching call can follow. */
static void errors(gasnet_handlerentry_t* table) {
  const uintptr_t page = GASNET_PAGESIZE;
  const gasnet_node_t last = gasnet_nodes() - 1;
  const int mistaken = gasnet_mynode() == last;
  const int expected = mistaken ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE;
  gasnet_handlerentry_t wrong[2];
  REQUIRE(gasnet_attach(table, 2, page + (mistaken ? 1 : 0), 0) == expected);
  REQUIRE(gasnet_attach(table, 2, mistaken ? gasnet_getMaxLocalSegmentSize() + page : page, 0) ==
          expected);
  REQUIRE(gasnet_attach(table, mistaken ? -1 : 2, page, 0) == expected);
  REQUIRE(gasnet_attach(mistaken ? NULL : table, 2, page, 0) == expected);
  wrong[0].index = 0;
  wrong[0].fnptr = HANDLER(on_request);
  wrong[1] = wrong[0];
  wrong[1].index = mistaken ? 127 : 130;
  REQUIRE(gasnet_attach(wrong, 2, page, 0) == expected);
  wrong[0].index = wrong[1].index = 200;
  if (!mistaken) wrong[1].index = 201;
  REQUIRE(gasnet_attach(wrong, 2, page, 0) == expected);
  wrong[0].index = 0;
  wrong[0].fnptr = mistaken ? (void (*)())0 : HANDLER(on_request);
  wrong[1].index = 150;
  REQUIRE(gasnet_attach(wrong, 2, page, 0) == expected);
  REQUIRE(wrong[0].index == 0);
  if (gasnet_nodes() > 1)
    REQUIRE(gasnet_attach(table, 2, page, mistaken ? page : 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(table[0].index == 0);
  REQUIRE(hook_calls == 0);
}

static uintptr_t size_of(gasnet_node_t node) {
  return node % 3 == 1 ? 0 : (uintptr_t)(node + 1) * GASNET_PAGESIZE;
}

int main(int argc, char** argv) {
  const int codes = argc < 2 || strcmp(argv[1], "checked") != 0;
  gasnet_handlerentry_t table[] = {{0, HANDLER(on_request)}, {128, HANDLER(on_request)}};
  gasnet_seginfo_t none;
  gex_Segment_t segment;
  gasnet_node_t node;
  gex_System_SetVerboseErrors(0);
  if (codes) {
    REQUIRE(gasnet_attach(table, 2, GASNET_PAGESIZE, 0) == GASNET_ERR_NOT_INIT);
    REQUIRE(gasnet_getSegmentInfo(&none, 1) == GASNET_ERR_NOT_INIT);
  }
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);

  REQUIRE(gasnet_mynode() < gasnet_nodes());
  REQUIRE(gasnet_getMaxGlobalSegmentSize() >= 64 * GASNET_PAGESIZE);
  REQUIRE(gasnet_getMaxLocalSegmentSize() >= gasnet_getMaxGlobalSegmentSize());
  REQUIRE(gasnet_getMaxLocalSegmentSize() % GASNET_PAGESIZE == 0);
  REQUIRE(gasnet_getMaxGlobalSegmentSize() % GASNET_PAGESIZE == 0);
  REQUIRE(gasnet_getenv("PATH") != NULL);
  REQUIRE(gasnet_getenv("A_VARIABLE_THAT_NO_RANK_SETS") == NULL);
  REQUIRE(gasnet_getSegmentInfo(&none, 1) == GASNET_ERR_NOT_INIT);
  gasnet_client_attach_hook = on_attach;
  if (codes) {
    REQUIRE(gasnet_init(&argc, &argv) == GASNET_ERR_RESOURCE);
    errors(table);
  }

  REQUIRE(gasnet_attach(table, 2, size_of(gasnet_mynode()), GASNET_PAGESIZE) == GASNET_OK);
  REQUIRE(table[0].index == 255 && table[1].index == 128);
  if (codes) {
    REQUIRE(gasnet_attach(table, 2, GASNET_PAGESIZE, 0) == GASNET_ERR_RESOURCE);
    REQUIRE(gasnet_init(&argc, &argv) == GASNET_ERR_RESOURCE);
  }

  segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof(gasnet_seginfo_t));
  REQUIRE(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK);
  for (node = 0; node < gasnet_nodes(); ++node) {
    REQUIRE(segments[node].size == size_of(node));
    REQUIRE((segments[node].addr != NULL) == (size_of(node) != 0));
    REQUIRE((uintptr_t)segments[node].addr % GASNET_PAGESIZE == 0);
  }
  gasnet_QueryGexObjects(NULL, NULL, NULL, &segment);
  REQUIRE((segment != GEX_SEGMENT_INVALID) == (size_of(gasnet_mynode()) != 0));
  REQUIRE(hook_calls == 1);
  REQUIRE(hook_address == segments[gasnet_mynode()].addr);
  REQUIRE(hook_size == segments[gasnet_mynode()].size);

  /* Every rank writes the words at the end of every segment there is; those without take messages.
   */
  for (node = 0; node < gasnet_nodes(); ++node) {
    REQUIRE(gasnet_AMRequestShort0(node, table[node % 2].index) == GASNET_OK);
    if (size_of(node) != 0)
      gasnet_put_val(node,
                     (char*)segments[node].addr + segments[node].size - 8 * (gasnet_mynode() + 1),
                     1000 + gasnet_mynode(), 8);
  }
  GASNET_BLOCKUNTIL(seen == (int)gasnet_nodes());
  barrier_all();
  if (size_of(gasnet_mynode()) != 0) {
    const char* end = (char*)segments[gasnet_mynode()].addr + segments[gasnet_mynode()].size;
    for (node = 0; node < gasnet_nodes(); ++node) {
      uint64_t word;
      memcpy(&word, end - 8 * (node + 1), 8);
      REQUIRE(word == 1000 + node);
    }
  }
  finish();
  return 0;
}
