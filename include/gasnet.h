/* gasnet.h: GASNet-1 and GASNet-EX together. Includes gasnetex.h and gasnet_tools.h, and adds the
 * GASNet-1 names that are here today: identity, locks, and the way to the EX objects. The rest of
 * the GASNet-1 interface follows in a later release.
 */
#ifndef _INCLUDED_GASNET_H
#define _INCLUDED_GASNET_H

#include <gasnetex.h>

#include <gasnet_tools.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef gex_Rank_t gasnet_node_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_HSL_t gasnet_hsl_t;

#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER

#define gasnet_mynode() gex_System_QueryJobRank()
#define gasnet_nodes() gex_System_QueryJobSize()
#define gasnet_hsl_init(hsl) gex_HSL_Init(hsl)
#define gasnet_hsl_destroy(hsl) gex_HSL_Destroy(hsl)
#define gasnet_hsl_lock(hsl) gex_HSL_Lock(hsl)
#define gasnet_hsl_unlock(hsl) gex_HSL_Unlock(hsl)
#define gasnet_hsl_trylock(hsl) gex_HSL_Trylock(hsl)

/** The objects of the client that uses GASNet-1; outputs may be NULL. Any context. */
GEX_EXPORT_ void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p,
                                        gex_TM_t* tm_p, gex_Segment_t* segment_p);

#ifdef __cplusplus
}
#endif
#endif
