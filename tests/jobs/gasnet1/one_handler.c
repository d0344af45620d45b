/* What GASNet-1 lets a handler table leave open: an entry of gasnet_attach serves requests and
 * replies, of any category and number of arguments, as long as the function fits the message.
 */
#include <limits.h>

#include "program.h"

static volatile int seen;

/* A request, which it answers if its arguments ask for that, and a reply. */
static void on_any(gasnet_token_t token, gasnet_handlerarg_t reply_index,
                   gasnet_handlerarg_t value) {
  REQUIRE(value == 42);
  if (reply_index == 0)
    ++seen;
  else
    REQUIRE(gasnet_AMReplyShort2(token, (gasnet_handler_t)reply_index, 0, 42) == GASNET_OK);
}
/* The same function type serves medium and long payload. */
static void on_payload(gasnet_token_t token, void* buffer, size_t nbytes) {
  gex_Token_Info_t info;
  REQUIRE(gex_Token_Info(token, &info, GEX_TI_ENTRY) & GEX_TI_ENTRY);
  REQUIRE(info.gex_entry->gex_nargs == UINT_MAX);
  REQUIRE(nbytes == 3 && memcmp(buffer, "abc", 3) == 0);
  ++seen;
}

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[] = {{0, HANDLER(on_any)},
                                   {200, HANDLER(on_any)},
                                   {255, HANDLER(on_payload)},
                                   {0, HANDLER(on_payload)}};
  gex_EP_t endpoint;
  gex_AM_Entry_t later;
  gasnet_node_t next;
  gasnet_seginfo_t own;
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);
  REQUIRE(gasnet_attach(table, 4, GASNET_PAGESIZE, 0) == GASNET_OK);
  /* Fixed ones keep theirs; the others get what is free, each its own. */
  REQUIRE(table[1].index == 200 && table[2].index == 255);
  REQUIRE(table[0].index >= 128 && table[3].index >= 128 && table[0].index != table[3].index);
  REQUIRE(table[0].index == 254 && table[3].index == 253);

  /* More handlers by the other interface, which finds what is taken. */
  gasnet_QueryGexObjects(NULL, &endpoint, NULL, NULL);
  memset(&later, 0, sizeof later);
  later.gex_fnptr = HANDLER(on_any);
  later.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
  later.gex_nargs = 2;
  REQUIRE(gex_EP_RegisterHandlers(endpoint, &later, 1) == GASNET_OK);
  REQUIRE(later.gex_index == 252);
  barrier_all();

  next = (gasnet_mynode() + 1) % gasnet_nodes();
  REQUIRE(gasnet_AMRequestShort2(next, table[0].index, table[1].index, 42) == GASNET_OK);
  GASNET_BLOCKUNTIL(seen == 1);
  REQUIRE(gasnet_AMRequestShort2(next, table[1].index, later.gex_index, 42) == GASNET_OK);
  GASNET_BLOCKUNTIL(seen == 2);
  REQUIRE(gasnet_AMRequestShort2(next, later.gex_index, table[0].index, 42) == GASNET_OK);
  GASNET_BLOCKUNTIL(seen == 3);
  barrier_all();
  REQUIRE(gasnet_AMRequestMedium0(next, table[2].index, (void*)(uintptr_t) "abc", 3) == GASNET_OK);
  GASNET_BLOCKUNTIL(seen == 4);
  barrier_all();
  segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof(gasnet_seginfo_t));
  REQUIRE(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK);
  REQUIRE(gasnet_AMRequestLong0(next, table[3].index, (void*)(uintptr_t) "abc", 3,
                                segments[next].addr) == GASNET_OK);
  GASNET_BLOCKUNTIL(seen == 5);
  own = segments[gasnet_mynode()];
  REQUIRE(memcmp(own.addr, "abc", 3) == 0);
  finish();
  return 0;
}
