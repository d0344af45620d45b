/* Values and widths that clients hold copies of, as a C client sees them. */
#define GASNET_SEQ 1
#include <gasnetex.h>

#define IS(condition) _Static_assert(condition, #condition)
IS(GASNET_OK == 0);
IS(GASNET_ERR_NOT_READY == 10004);
IS(GEX_DT_U64 == 1 << 3);
IS(GEX_OP_ADD == 1 << 3);
IS(GEX_EP_CAPABILITY_RMA == 1 << 0);
IS(GEX_FLAG_IMMEDIATE == 1 << 0);
IS(GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1 << 11);
IS(GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1 << 12);
IS(GEX_RANK_INVALID == (gex_Rank_t)-1);
#if GEX_RANK_INVALID != 0xffffffff || GEX_OP_FADD != 1 << 15 || \
    GEX_OP_TO_NONFETCHING(GEX_OP_FCAS) != GEX_OP_CAS
#error "the preprocessor sees other values than the compiler"
#endif
IS(sizeof(gex_Flags_t) == 4 && (gex_Flags_t)-1 > 0);
IS(sizeof(gex_Rank_t) == 4 && (gex_Rank_t)-1 > 0);
IS(sizeof(gex_DT_t) == 4 && (gex_DT_t)-1 > 0);
IS(sizeof(gex_OP_t) == 4 && (gex_OP_t)-1 > 0);
IS(sizeof(gex_EP_Capabilities_t) == 4 && (gex_EP_Capabilities_t)-1 > 0);
IS(sizeof(gex_EP_Index_t) == 2 && (gex_EP_Index_t)-1 > 0);
IS(sizeof(gex_AM_Arg_t) == 4 && (gex_AM_Arg_t)-1 < 0);
IS(sizeof(gex_Client_t) == sizeof(void*) && sizeof(gex_EP_t) == sizeof(void*));
IS(sizeof(gex_TM_t) == sizeof(void*) && sizeof(gex_Segment_t) == sizeof(void*));
IS(sizeof(gex_MK_t) == sizeof(void*) && sizeof(gex_Event_t) == sizeof(void*));
IS(sizeof(gex_AM_SrcDesc_t) == sizeof(void*) && sizeof(gex_Addr_t) == sizeof(void*));
IS(sizeof(gex_HSL_t) == 64);
IS(SIZEOF_CHAR == sizeof(char) && SIZEOF_SHORT == sizeof(short) && SIZEOF_INT == sizeof(int));
IS(SIZEOF_LONG == sizeof(long) && SIZEOF_LONG_LONG == sizeof(long long));
IS(SIZEOF_VOID_P == sizeof(void*) && SIZEOF_SIZE_T == sizeof(size_t));
IS(SIZEOF_PTRDIFF_T == sizeof(ptrdiff_t));
IS(GASNETI_MAX_THREADS == 1);
IS(GASNET_RELEASE_VERSION_MAJOR == 2025 && GASNET_RELEASE_VERSION_MINOR == 8);
IS(GASNET_RELEASE_VERSION_PATCH == 0);
IS(GEX_SPEC_VERSION_MAJOR == 0 && GEX_SPEC_VERSION_MINOR == 19);
