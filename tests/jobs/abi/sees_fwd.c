/* gasnet_fwd.h alone, without any threading mode: the types and the GEX_ constants, and no more. */
#include <gasnet_fwd.h>

#if defined(GASNET_OK) || defined(GASNET_PAGESIZE) || defined(GASNET_SEQ) || \
    defined(GASNET_PARSYNC) || defined(GASNET_PAR) || defined(if_pf) || defined(PRIuSZ)
#error "gasnet_fwd.h defines names outside GEX_"
#endif

gex_Rank_t a_rank = GEX_RANK_INVALID;
gex_EP_Index_t an_index;
gex_EP_Location_t a_location;
gex_Event_t an_event = GEX_EVENT_INVALID;
gex_Event_t no_op = GEX_EVENT_NO_OP;
gex_Event_t* special[] = {GEX_EVENT_NOW, GEX_EVENT_DEFER, GEX_EVENT_GROUP};
gex_Flags_t flags = GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_AD_ACQ;
gex_OP_t operations = GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SWAP | GEX_OP_USER_NC;
gex_DT_t types = GEX_DT_I32 | GEX_DT_U32 | GEX_DT_I64 | GEX_DT_U64 | GEX_DT_FLT | GEX_DT_DBL;
gex_Addr_t an_address;
gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL;

_Static_assert(GEX_OP_TO_FETCHING(GEX_OP_SET) == GEX_OP_SWAP, "SET and SWAP are a pair");
_Static_assert(GEX_OP_TO_NONFETCHING(GEX_OP_FCAS) == GEX_OP_CAS, "CAS and FCAS are a pair");
