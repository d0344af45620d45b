/* GASNet-1: non-contiguous put and get, as its prototype of them has it (the extensions proposed in
 * LBNL-56495, which the EX specification refers to). Part of gasnet.h.
 *
 * Those of gasnet_vis.h over the primordial team. Lists and memory belong to the operation until it
 * is synchronised, as a put or get. Any thread, not in handlers, not while holding a lock.
 *
 * v, vector:  lists of (address, bytes), cut as they like, of as many bytes on both sides.
 * i, indexed: lists of addresses of dstlen and srclen bytes each.
 * s, strided: stridelevels + 1 counts, of which the first is the bytes of each contiguous piece,
 *             and stridelevels strides in bytes for each side. 0 levels: one piece.
 */
#ifndef GEX_GASNET1_VIS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_VIS_H_

#include <gasnet_vis.h>
#include <gex/gasnet1_job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An address range, in memory as gex_Memvec_t is. */
typedef struct gasnet_memvec_t {
  void* addr;
  size_t len; /* bytes */
} gasnet_memvec_t;

#ifdef GEX_BODIES_
/* form: the infix of the name (nothing, _nb, _nbi); Form: that of the EX call; type: what it
 * returns; Return: `return`, or a cast that drops what only IMMEDIATE calls return. */
#define GEX_GASNET1_VIS_(form, Form, type, Return)                                                 \
  GEX_INLINE_ type gasnet_putv##form##_bulk(gasnet_node_t dstnode, size_t dstcount,                \
                                            gasnet_memvec_t const dstlist[], size_t srccount,      \
                                            gasnet_memvec_t const srclist[]) {                     \
    Return gex_VIS_VectorPut##Form(gex_proc_.gasnet1_team, dstnode, dstcount,                      \
                                   (const gex_Memvec_t*)dstlist, srccount,                         \
                                   (const gex_Memvec_t*)srclist, 0);                               \
  }                                                                                                \
  GEX_INLINE_ type gasnet_getv##form##_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],      \
                                            gasnet_node_t srcnode, size_t srccount,                \
                                            gasnet_memvec_t const srclist[]) {                     \
    Return gex_VIS_VectorGet##Form(gex_proc_.gasnet1_team, dstcount, (const gex_Memvec_t*)dstlist, \
                                   srcnode, srccount, (const gex_Memvec_t*)srclist, 0);            \
  }                                                                                                \
  GEX_INLINE_ type gasnet_puti##form##_bulk(gasnet_node_t dstnode, size_t dstcount,                \
                                            void* const dstlist[], size_t dstlen, size_t srccount, \
                                            void* const srclist[], size_t srclen) {                \
    Return gex_VIS_IndexedPut##Form(gex_proc_.gasnet1_team, dstnode, dstcount, dstlist, dstlen,    \
                                    srccount, srclist, srclen, 0);                                 \
  }                                                                                                \
  GEX_INLINE_ type gasnet_geti##form##_bulk(size_t dstcount, void* const dstlist[], size_t dstlen, \
                                            gasnet_node_t srcnode, size_t srccount,                \
                                            void* const srclist[], size_t srclen) {                \
    Return gex_VIS_IndexedGet##Form(gex_proc_.gasnet1_team, dstcount, dstlist, dstlen, srcnode,    \
                                    srccount, srclist, srclen, 0);                                 \
  }                                                                                                \
  GEX_INLINE_ type gasnet_puts##form##_bulk(                                                       \
      gasnet_node_t dstnode, void* dstaddr, const size_t dststrides[], void* srcaddr,              \
      const size_t srcstrides[], const size_t count[], size_t stridelevels) {                      \
    Return gex_VIS_StridedPut##Form(                                                               \
        gex_proc_.gasnet1_team, dstnode, dstaddr, (const ptrdiff_t*)dststrides, srcaddr,           \
        (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);                       \
  }                                                                                                \
  GEX_INLINE_ type gasnet_gets##form##_bulk(                                                       \
      void* dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void* srcaddr,              \
      const size_t srcstrides[], const size_t count[], size_t stridelevels) {                      \
    Return gex_VIS_StridedGet##Form(gex_proc_.gasnet1_team, dstaddr, (const ptrdiff_t*)dststrides, \
                                    srcnode, srcaddr, (const ptrdiff_t*)srcstrides, count[0],      \
                                    count + 1, stridelevels, 0);                                   \
  }
GEX_GASNET1_VIS_(, Blocking, void, (void))
GEX_GASNET1_VIS_(_nb, NB, gasnet_handle_t, return )
GEX_GASNET1_VIS_(_nbi, NBI, void, (void))
#undef GEX_GASNET1_VIS_
#endif

#ifdef __cplusplus
}
#endif
#endif
