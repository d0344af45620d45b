/* What follows gasnetex.h: each extension shows its own, and gasnet_tools.h after all of them. */
#define GASNET_PARSYNC 1
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <gasnet_tools.h>

#if GASNETI_MAX_THREADS < 2 || GASNETT_MAX_THREADS < 2
#error "threads"
#endif
#if GASNET_PAGESIZE != GASNETT_PAGESIZE
#error "page sizes"
#endif

_Static_assert(GEX_VIS_MAX_PEERCOMPLETION >= 127, "peer completion");

typedef void (*any_function)(void);
#define HERE(function) (any_function) function
const any_function extensions[] = {
    HERE(gex_AD_Create),         HERE(gex_AD_Destroy),
    HERE(gex_AD_OpNB_U64),       HERE(gex_AD_OpNBI_DBL),
    HERE(gex_VIS_VectorPutNB),   HERE(gex_VIS_IndexedGetBlocking),
    HERE(gex_VIS_StridedPutNBI), HERE(gex_VIS_SetPeerCompletionHandler),
    HERE(gex_Coll_BroadcastNB),  HERE(gex_Coll_ReduceToOneNB),
    HERE(gex_Coll_ReduceToAllNB)};
gex_AD_t a_domain = GEX_AD_INVALID;
gex_Memvec_t a_region;
gex_Coll_ReduceFn_t an_operator;
gex_MK_Create_args_t a_kind;
gex_MK_Class_t a_class = GEX_MK_CLASS_HOST;

/* The tools of a client's mode. */
#if !GASNETT_THREAD_SAFE
#error "PARSYNC has threads"
#endif
void* const a_name_with_an_address = (void*)(uintptr_t)&_gasneti_threadkey_init;
