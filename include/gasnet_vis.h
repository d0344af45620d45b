/* gasnet_vis.h: non-contiguous put and get. Spec: "Vector/Indexed/Strided (VIS)".
 *
 * The interface is declared whole. This release of libgex does not define its functions yet: a
 * program that calls one does not link, and the linker names it.
 */
#ifndef _INCLUDED_GASNET_VIS_H
#define _INCLUDED_GASNET_VIS_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One function for each form of completion: NB returns an event, NBI and Blocking return non-zero
 * only when GEX_FLAG_IMMEDIATE kept them from doing anything. `counts` are numbers of list entries,
 * `lengths` bytes, `strides` bytes between elements. Any thread; not in handlers. */
#define GEX_VIS_DECLARE_(Suffix, result)                                                           \
  GEX_EXPORT_ result gex_VIS_VectorGet##Suffix(                                                    \
      gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,              \
      size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);                           \
  GEX_EXPORT_ result gex_VIS_VectorPut##Suffix(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,   \
                                               gex_Memvec_t const dstlist[], size_t srccount,      \
                                               gex_Memvec_t const srclist[], gex_Flags_t flags);   \
  GEX_EXPORT_ result gex_VIS_IndexedGet##Suffix(                                                   \
      gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen, gex_Rank_t srcrank,      \
      size_t srccount, void* const srclist[], size_t srclen, gex_Flags_t flags);                   \
  GEX_EXPORT_ result gex_VIS_IndexedPut##Suffix(                                                   \
      gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void* const dstlist[], size_t dstlen,      \
      size_t srccount, void* const srclist[], size_t srclen, gex_Flags_t flags);                   \
  GEX_EXPORT_ result gex_VIS_StridedGet##Suffix(                                                   \
      gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank, void* srcaddr, \
      const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels,      \
      gex_Flags_t flags);                                                                          \
  GEX_EXPORT_ result gex_VIS_StridedPut##Suffix(                                                   \
      gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr, const ptrdiff_t dststrides[], void* srcaddr, \
      const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels,      \
      gex_Flags_t flags);
GEX_VIS_DECLARE_(NB, gex_Event_t)
GEX_VIS_DECLARE_(NBI, int)
GEX_VIS_DECLARE_(Blocking, int)
#undef GEX_VIS_DECLARE_

/** Largest payload, in bytes, of a peer completion handler. */
#define GEX_VIS_MAX_PEERCOMPLETION ((size_t)127)
/** Arms a medium reply handler without arguments at the peer of the thread's next put; handler 0
 * disarms. Flags: 0. */
GEX_EXPORT_ void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                                  size_t nbytes, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
