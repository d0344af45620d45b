/* gasnet_coll.h alone shows the collectives of both interfaces, to a C client. */
#define GASNET_SEQ 1
#include <gasnet_coll.h>

#define IN_AND_OUT(sync) GASNET_COLL_IN_##sync, GASNET_COLL_OUT_##sync
const int collective_flags[] = {
    IN_AND_OUT(NOSYNC), IN_AND_OUT(MYSYNC),         IN_AND_OUT(ALLSYNC),       GASNET_COLL_LOCAL,
    GASNET_COLL_SINGLE, GASNET_COLL_SRC_IN_SEGMENT, GASNET_COLL_DST_IN_SEGMENT};

typedef void (*Function)(void);
const Function collective_functions[] = {
    (Function)gex_Coll_BarrierNB,          (Function)gex_Coll_BarrierBlocking,
    (Function)gex_Coll_BroadcastNB,        (Function)gex_Coll_ReduceToOneNB,
    (Function)gex_Coll_ReduceToAllNB,      (Function)gasnet_coll_broadcast,
    (Function)gasnet_coll_broadcast_nb,    (Function)gasnet_coll_scatter,
    (Function)gasnet_coll_scatter_nb,      (Function)gasnet_coll_gather,
    (Function)gasnet_coll_gather_nb,       (Function)gasnet_coll_gather_all,
    (Function)gasnet_coll_gather_all_nb,   (Function)gasnet_coll_exchange,
    (Function)gasnet_coll_exchange_nb,     (Function)gasnet_coll_wait_sync,
    (Function)gasnet_coll_try_sync,        (Function)gasnet_coll_barrier,
    (Function)gasnet_coll_barrier_notify,  (Function)gasnet_coll_barrier_wait,
    (Function)gasnet_coll_barrier_try,     (Function)gasnet_coll_dumpProfile,
    (Function)gasnet_coll_dumpTuningState, (Function)gasnet_coll_wait_sync_all,
    (Function)gasnet_coll_wait_sync_some,  (Function)gasnet_coll_try_sync_all,
    (Function)gasnet_coll_try_sync_some};

gasnet_coll_handle_t broadcast_to_all(void* to, gasnet_image_t root, void* from) {
  return gasnet_coll_broadcast_nb(
      GASNET_TEAM_ALL, to, root, from, 8,
      GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
}
