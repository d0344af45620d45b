/* GASNet-1 as functions and nothing else: part of gex/functions.h. */
#ifndef GEX_FUNCTIONS_GASNET1_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_FUNCTIONS_GASNET1_H_

#include <gex/gasnet1_am.h>
#include <gex/gasnet1_job.h>
#include <gex/gasnet1_rma.h>
#include <gex/gasnet1_vis.h>

#ifdef GEX_DECLARATIONS_

#ifdef __cplusplus
extern "C" {
#endif

/* gex/gasnet1_job.h */
GEX_EXPORT_ gasnet_node_t gasnet_mynode(void);
GEX_EXPORT_ gasnet_node_t gasnet_nodes(void);
GEX_EXPORT_ void gasnet_hsl_init(gasnet_hsl_t* hsl);
GEX_EXPORT_ void gasnet_hsl_destroy(gasnet_hsl_t* hsl);
GEX_EXPORT_ void gasnet_hsl_lock(gasnet_hsl_t* hsl);
GEX_EXPORT_ void gasnet_hsl_unlock(gasnet_hsl_t* hsl);
GEX_EXPORT_ int gasnet_hsl_trylock(gasnet_hsl_t* hsl);
GEX_EXPORT_ void gasnet_hold_interrupts(void);
GEX_EXPORT_ void gasnet_resume_interrupts(void);

/* gex/gasnet1_am.h */
GEX_EXPORT_ size_t gasnet_AMMaxArgs(void);
GEX_EXPORT_ size_t gasnet_AMMaxMedium(void);
GEX_EXPORT_ size_t gasnet_AMMaxLongRequest(void);
GEX_EXPORT_ size_t gasnet_AMMaxLongReply(void);
GEX_EXPORT_ int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex);

#define GEX_GASNET1_REQUEST_SHORT_(name, arguments) \
  GEX_EXPORT_ int name(gasnet_node_t dest, gasnet_handler_t handler arguments);
#define GEX_GASNET1_REQUEST_MEDIUM_(name, arguments)                                          \
  GEX_EXPORT_ int name(gasnet_node_t dest, gasnet_handler_t handler, const void* source_addr, \
                       size_t nbytes arguments);
#define GEX_GASNET1_REQUEST_LONG_(name, arguments)                                            \
  GEX_EXPORT_ int name(gasnet_node_t dest, gasnet_handler_t handler, const void* source_addr, \
                       size_t nbytes, void* dest_addr arguments);
#define GEX_GASNET1_REPLY_SHORT_(name, arguments) \
  GEX_EXPORT_ int name(gasnet_token_t token, gasnet_handler_t handler arguments);
#define GEX_GASNET1_REPLY_MEDIUM_(name, arguments)                                              \
  GEX_EXPORT_ int name(gasnet_token_t token, gasnet_handler_t handler, const void* source_addr, \
                       size_t nbytes arguments);
#define GEX_GASNET1_REPLY_LONG_(name, arguments)                                                \
  GEX_EXPORT_ int name(gasnet_token_t token, gasnet_handler_t handler, const void* source_addr, \
                       size_t nbytes, void* dest_addr arguments);
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REQUEST_SHORT_(gasnet_AMRequestShort16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REQUEST_MEDIUM_(gasnet_AMRequestMedium16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLong16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REQUEST_LONG_(gasnet_AMRequestLongAsync16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REPLY_SHORT_(gasnet_AMReplyShort16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REPLY_MEDIUM_(gasnet_AMReplyMedium16, GEX_AM_PARAMETERS_16_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong0, GEX_AM_PARAMETERS_0_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong1, GEX_AM_PARAMETERS_1_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong2, GEX_AM_PARAMETERS_2_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong3, GEX_AM_PARAMETERS_3_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong4, GEX_AM_PARAMETERS_4_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong5, GEX_AM_PARAMETERS_5_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong6, GEX_AM_PARAMETERS_6_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong7, GEX_AM_PARAMETERS_7_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong8, GEX_AM_PARAMETERS_8_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong9, GEX_AM_PARAMETERS_9_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong10, GEX_AM_PARAMETERS_10_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong11, GEX_AM_PARAMETERS_11_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong12, GEX_AM_PARAMETERS_12_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong13, GEX_AM_PARAMETERS_13_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong14, GEX_AM_PARAMETERS_14_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong15, GEX_AM_PARAMETERS_15_)
GEX_GASNET1_REPLY_LONG_(gasnet_AMReplyLong16, GEX_AM_PARAMETERS_16_)

/* gex/gasnet1_rma.h */
GEX_EXPORT_ void gasnet_get(void* dest, gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_put(gasnet_node_t node, void* dest, const void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_get_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_put_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_get_nb(void* dest, gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_get_nb_bulk(void* dest, gasnet_node_t node, void* src,
                                               size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void* dest, const void* src,
                                          size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void* dest, const void* src,
                                               size_t nbytes);
GEX_EXPORT_ void gasnet_get_nbi(void* dest, gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_get_nbi_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_put_nbi(gasnet_node_t node, void* dest, const void* src, size_t nbytes);
GEX_EXPORT_ void gasnet_put_nbi_bulk(gasnet_node_t node, void* dest, const void* src,
                                     size_t nbytes);
GEX_EXPORT_ void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void* dest, int val,
                                             size_t nbytes);
GEX_EXPORT_ void gasnet_memset_nbi(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ void gasnet_put_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void* dest,
                                              gasnet_register_value_t value, size_t nbytes);
GEX_EXPORT_ void gasnet_put_nbi_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                    size_t nbytes);
GEX_EXPORT_ gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);
GEX_EXPORT_ void gasnet_wait_syncnb(gasnet_handle_t handle);
GEX_EXPORT_ int gasnet_try_syncnb(gasnet_handle_t handle);
GEX_EXPORT_ void gasnet_wait_syncnb_all(gasnet_handle_t* handles, size_t numhandles);
GEX_EXPORT_ void gasnet_wait_syncnb_some(gasnet_handle_t* handles, size_t numhandles);
GEX_EXPORT_ void gasnet_wait_syncnbi_gets(void);
GEX_EXPORT_ void gasnet_wait_syncnbi_puts(void);
GEX_EXPORT_ void gasnet_wait_syncnbi_all(void);
GEX_EXPORT_ int gasnet_try_syncnbi_gets(void);
GEX_EXPORT_ int gasnet_try_syncnbi_puts(void);
GEX_EXPORT_ int gasnet_try_syncnbi_all(void);
GEX_EXPORT_ void gasnet_begin_nbi_accessregion(void);
GEX_EXPORT_ gasnet_handle_t gasnet_end_nbi_accessregion(void);

/* gex/gasnet1_vis.h */
#define GEX_GASNET1_VIS_(type, putv_bulk, getv_bulk, puti_bulk, geti_bulk, puts_bulk, gets_bulk) \
  GEX_EXPORT_ type putv_bulk(gasnet_node_t dstnode, size_t dstcount,                             \
                             gasnet_memvec_t const dstlist[], size_t srccount,                   \
                             gasnet_memvec_t const srclist[]);                                   \
  GEX_EXPORT_ type getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],                   \
                             gasnet_node_t srcnode, size_t srccount,                             \
                             gasnet_memvec_t const srclist[]);                                   \
  GEX_EXPORT_ type puti_bulk(gasnet_node_t dstnode, size_t dstcount, void* const dstlist[],      \
                             size_t dstlen, size_t srccount, void* const srclist[],              \
                             size_t srclen);                                                     \
  GEX_EXPORT_ type geti_bulk(size_t dstcount, void* const dstlist[], size_t dstlen,              \
                             gasnet_node_t srcnode, size_t srccount, void* const srclist[],      \
                             size_t srclen);                                                     \
  GEX_EXPORT_ type puts_bulk(gasnet_node_t dstnode, void* dstaddr, const size_t dststrides[],    \
                             void* srcaddr, const size_t srcstrides[], const size_t count[],     \
                             size_t stridelevels);                                               \
  GEX_EXPORT_ type gets_bulk(void* dstaddr, const size_t dststrides[], gasnet_node_t srcnode,    \
                             void* srcaddr, const size_t srcstrides[], const size_t count[],     \
                             size_t stridelevels);
GEX_GASNET1_VIS_(void, gasnet_putv_bulk, gasnet_getv_bulk, gasnet_puti_bulk, gasnet_geti_bulk,
                 gasnet_puts_bulk, gasnet_gets_bulk)
GEX_GASNET1_VIS_(gasnet_handle_t, gasnet_putv_nb_bulk, gasnet_getv_nb_bulk, gasnet_puti_nb_bulk,
                 gasnet_geti_nb_bulk, gasnet_puts_nb_bulk, gasnet_gets_nb_bulk)
GEX_GASNET1_VIS_(void, gasnet_putv_nbi_bulk, gasnet_getv_nbi_bulk, gasnet_puti_nbi_bulk,
                 gasnet_geti_nbi_bulk, gasnet_puts_nbi_bulk, gasnet_gets_nbi_bulk)

#ifdef __cplusplus
}
#endif

#endif
#endif
