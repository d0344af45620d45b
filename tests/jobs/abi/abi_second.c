#include "abi_client.h"

static volatile int answered;
static volatile int damaged;

static void on_request(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t number) {
  gex_AM_ReplyMedium1(token, 231, payload, bytes, GEX_EVENT_NOW, 0, number + 1);
}
static void on_reply(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t number) {
  (void)token;
  if (bytes != 100 || ((const char*)payload)[99] != (char)(number - 1)) damaged = 1;
  answered = answered + 1;
}

int abi_exchange_messages(gex_EP_t endpoint, gex_TM_t team, gex_Rank_t peer) {
  char payload[100];
  gex_AM_Arg_t i;
  gex_AM_Entry_t table[2];
  table[0].gex_index = 230;
  table[0].gex_fnptr = (gex_AM_Fn_t)on_request;
  table[0].gex_flags = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  table[1].gex_index = 231;
  table[1].gex_fnptr = (gex_AM_Fn_t)on_reply;
  table[1].gex_flags = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY;
  for (i = 0; i < 2; ++i) {
    table[i].gex_nargs = 1;
    table[i].gex_cdata = NULL;
    table[i].gex_name = NULL;
  }
  if (gex_EP_RegisterHandlers(endpoint, table, 2) != GASNET_OK) return 1;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (i = 0; i < 50; ++i) {
    payload[99] = (char)i;
    /* With the number in the name, and without. */
    if (i % 2 == 0)
      gex_AM_RequestMedium1(team, peer, 230, payload, sizeof payload, GEX_EVENT_NOW, 0, i);
    else
      gex_AM_RequestMedium(team, peer, 230, payload, sizeof payload, GEX_EVENT_NOW, 0, i);
  }
  GASNET_BLOCKUNTIL(answered == 50);
  return damaged;
}

const struct gex_Proc_* abi_constants_of_second_unit(void) {
  return &gex_proc_;
}
