/* gasnet.h alone shows all of GASNet-EX and of the tools beside GASNet-1; after gasnetex.h, with
 * which a unit may have begun, nothing less. */
#define GASNET_PARSYNC 1
#define GASNETT_THREAD_SAFE 1 /* as some clients define it */
#include <gasnetex.h>

#if defined(_INCLUDED_GASNET_H) || defined(_INCLUDED_GASNET_TOOLS_H)
#error "gasnetex.h includes neither"
#endif

#include <gasnet.h>

#if !defined(_INCLUDED_GASNET_H) || !defined(_INCLUDED_GASNET_TOOLS_H)
#error "guards that clients look at"
#endif
#if !GASNET_SEGMENT_FAST || defined(GASNET_SEGMENT_LARGE) || defined(GASNET_SEGMENT_EVERYTHING)
#error "one segment configuration"
#endif
#if GASNET_VERSION != 1 || GASNET_SPEC_VERSION_MINOR != 8 || SIZEOF_GASNET_REGISTER_VALUE_T != 8
#error "numbers that clients use in the preprocessor"
#endif

typedef void (*any_function)(void);
#define HERE(function) (any_function) function
const any_function of_gasnet1[] = {HERE(gasnet_init),
                                   HERE(gasnet_attach),
                                   HERE(gasnet_mynode),
                                   HERE(gasnet_nodes),
                                   HERE(gasnet_AMRequestShort0),
                                   HERE(gasnet_AMReplyLong16),
                                   HERE(gasnet_hsl_lock),
                                   HERE(gasnet_put),
                                   HERE(gasnet_get_nb_bulk),
                                   HERE(gasnet_wait_syncnb),
                                   HERE(gasnet_try_syncnbi_all),
                                   HERE(gasnet_get_nb_val),
                                   HERE(gasnet_QueryGexObjects),
                                   HERE(gasnet_putv_bulk)};
const any_function of_others[] = {HERE(gex_Client_Init), HERE(gex_RMA_PutNB),
                                  HERE(gex_VIS_StridedPutNB), HERE(gasnett_fatalerror_nopos),
                                  HERE(gasnett_cpu_count)};
const void* const looked_up[] = {(const void*)(uintptr_t)_gasneti_threadkey_init,
                                 (const void*)(uintptr_t)_gasnett_trace_printf_noop};
gasnet_node_t node;
gasnet_handle_t handle = GASNET_INVALID_HANDLE;
gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
gasnet_memvec_t piece;

/* Each type is the EX type of the same meaning. */
#define SAME(one, other) \
  _Static_assert(_Generic((one*)0, other * : 1, default : 0), #one " is " #other)
SAME(gasnet_node_t, gex_Rank_t);
SAME(gasnet_handle_t, gex_Event_t);
SAME(gasnet_handler_t, gex_AM_Index_t);
SAME(gasnet_handlerarg_t, gex_AM_Arg_t);
SAME(gasnet_token_t, gex_Token_t);
SAME(gasnet_register_value_t, gex_RMA_Value_t);
SAME(gasnet_hsl_t, gex_HSL_t);
