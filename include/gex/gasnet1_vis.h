/** @file
 * GASNet-1: non-contiguous put and get, as its prototype of them has it (the extensions proposed in
 * LBNL-56495, which the EX specification refers to). Part of gasnet.h.
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

/** An address range, in memory as gex_Memvec_t is.
 * @see gasnet_putv_bulk
 */
typedef struct gasnet_memvec_t {
  void* addr; /**< Where it begins. */
  size_t len; /**< Bytes. */
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
/** @name Non-contiguous put and get (GASNet-1)
 * Copy between lists of ranges, or parts of arrays, of this process and of a peer.
 *
 * They are the EX calls over the primordial team: of names with v those of gex_VIS_VectorPutNB,
 * with i of gex_VIS_IndexedPutNB, with s of gex_VIS_StridedPutNB. Without an infix they return when
 * the transfer is complete, with _nb they return a handle, with _nbi they are synchronised without
 * one.
 *
 * @param dstnode       Put: the peer's rank, which the destination is of.
 * @param srcnode       Get: the peer's rank, which the source is of.
 * @param dstcount      Entries of `dstlist`.
 * @param dstlist       Ranges to write, or of i their addresses; the operation's until it is
 *                      complete.
 * @param dstlen        i: bytes of each range to write.
 * @param srccount      Entries of `srclist`.
 * @param srclist       Ranges to read, or of i their addresses; the operation's until it is
 *                      complete.
 * @param srclen        i: bytes of each range to read.
 * @param dstaddr       s: address of the first piece of the destination.
 * @param dststrides    s: its strides in bytes, `stridelevels` of them.
 * @param srcaddr       s: address of the first piece of the source.
 * @param srcstrides    s: its strides in bytes.
 * @param count         s: stridelevels + 1 counts, of which the first is the bytes of a contiguous
 *                      piece.
 * @param stridelevels  s: number of dimensions; 0 is one piece.
 * @return _nb: a handle, as gasnet_put_nb.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_memvec_t to[1] = {{there, 16}}, from[2] = {{a, 8}, {b, 8}};
 * gasnet_putv_bulk(peer, 1, to, 2, from);
 * @endcode
 * @see gex_VIS_VectorPutNB, gex_VIS_IndexedPutNB, gex_VIS_StridedPutNB, gasnet_wait_syncnb
 */
/**@{*/
GEX_GASNET1_VIS_(, Blocking, void, (void))
GEX_GASNET1_VIS_(_nb, NB, gasnet_handle_t, return )
GEX_GASNET1_VIS_(_nbi, NBI, void, (void))
/**@}*/
#undef GEX_GASNET1_VIS_
#endif

#ifdef __cplusplus
}
#endif
#endif
