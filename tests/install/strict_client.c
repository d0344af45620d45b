/* What clients write with the macros and inline functions of the headers. Compiled, not run, with
 * the strictest of warnings: none may come of the headers. C11 to C23, C++11 to C++23. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>

#ifdef __cplusplus
#define NULL_POINTER nullptr
#else
#define NULL_POINTER NULL
#endif

GASNETT_THREADKEY_DEFINE(strict_key);
static gasnett_atomic_t counter = gasnett_atomic_init(0);
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;

static void handler(gex_Token_t token, gex_AM_Arg_t argument) {
  (void)gex_AM_ReplyShort(token, 201, 0, argument);
}

int strict_main(gex_TM_t team, gex_AD_t domain, void* there);
int strict_main(gex_TM_t team, gex_AD_t domain, void* there) {
  gex_AM_Entry_t table[] = {
#if defined(UNCAST)
    {200, handler, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL_POINTER, "handler"},
#endif
    {201, (gex_AM_Fn_t)handler, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL_POINTER, "reply"}
  };
  gasnet_handlerentry_t gasnet1_table[] = {{202, (gex_AM_Fn_t)handler}};
  gex_Event_t event = GEX_EVENT_INVALID;
  uint64_t word = 0;
  int size = 0;
  if (gex_EP_RegisterHandlers(gex_TM_QueryEP(team), table, 1) != GASNET_OK) return 1;
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
  event = gex_RMA_PutNB(team, 0, there, &word, sizeof word, GEX_EVENT_NOW, 0);
  if (event == GEX_EVENT_NO_OP) return 2;
  gex_Event_Wait(event);
  (void)gex_RMA_PutNBI(team, 0, there, &word, sizeof word, GEX_EVENT_DEFER, 0);
  (void)gex_RMA_PutBlockingVal(team, 0, there, word, sizeof word, 0);
  word = gex_RMA_GetBlockingVal(team, 0, there, sizeof word, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &word, 0, there, GEX_OP_FADD, 1, 0, GEX_FLAG_AD_ACQ));
  (void)gex_AM_RequestShort(team, 0, 200, 0, 1);
  (void)gex_AM_RequestMedium(team, 0, 200, &word, sizeof word, GEX_EVENT_NOW, 0, 1, 2);
  GASNET_BLOCKUNTIL(gasnett_atomic_read(&counter, GASNETT_ATOMIC_ACQ) != 0);
  gasnett_atomic_increment(&counter, GASNETT_ATOMIC_REL);
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_unlock(&mutex);
  gasnett_threadkey_set(strict_key, there);
  if_pf(gasnett_threadkey_get(strict_key) != there) return 3;
  if (gex_TM_Pair(gex_TM_QueryEP(team), 0) == GEX_TM_INVALID) return 4;
  gasnet_put(0, there, &size, sizeof size);
  gasnet_coll_broadcast(GASNET_TEAM_ALL, there, 0, there, sizeof size,
                        GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  word = GASNETI_MAKEWORD(GASNETI_HIWORD(word), GASNETI_LOWORD(word)) + gasnett_ticks_now();
  return gasnet_attach(gasnet1_table, 1, GASNET_PAGESIZE, 0) + (word != 0);
}
