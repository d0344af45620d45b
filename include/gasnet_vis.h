/* gasnet_vis.h: non-contiguous put and get. Spec: "Vector/Indexed/Strided (VIS)".
 *
 * Each call names both ends of a transfer in `tm`'s terms: the peer's addresses are in its bound
 * segment, the caller's anywhere. Destinations overlap neither one another nor a source. Lists are
 * read until the operation is complete, strides and counts within the call.
 */
#ifndef _INCLUDED_GASNET_VIS_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_VIS_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One function for each form of completion: NB returns an event, NBI and Blocking return non-zero
 * only when GEX_FLAG_IMMEDIATE kept them from doing anything.
 *
 * Vector and indexed: dstcount and srccount entries; dstlen and srclen are the bytes of every entry
 * of an indexed list. The lists may be cut differently, but have as many bytes in all.
 * Strided: element (i0, i1, ...), i_k below count[k], of elemsz contiguous bytes, is at the sum of
 * i_k * strides[k] (bytes, of any sign) from the address; stridelevels entries in each array. With
 * elemsz 0 or a count of 0 nothing is moved and no address is looked at; without levels it is one
 * element.
 *
 * Flags: GEX_FLAG_IMMEDIATE; for puts NB and NBI GEX_FLAG_ENABLE_LEAF_LC, which asks for local
 * completion of the payload as a leaf (gex_Event_QueryLeaf with GEX_EC_LC) or in category LC.
 * Any thread; not in handlers. */
#define GEX_VIS_DECLARE_(result, VectorGet, VectorPut, IndexedGet, IndexedPut, StridedGet,         \
                         StridedPut)                                                               \
  GEX_EXPORT_ result VectorGet(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],         \
                               gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],  \
                               gex_Flags_t flags);                                                 \
  GEX_EXPORT_ result VectorPut(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,                   \
                               gex_Memvec_t const dstlist[], size_t srccount,                      \
                               gex_Memvec_t const srclist[], gex_Flags_t flags);                   \
  GEX_EXPORT_ result IndexedGet(gex_TM_t tm, size_t dstcount, void* const dstlist[],               \
                                size_t dstlen, gex_Rank_t srcrank, size_t srccount,                \
                                void* const srclist[], size_t srclen, gex_Flags_t flags);          \
  GEX_EXPORT_ result IndexedPut(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,                  \
                                void* const dstlist[], size_t dstlen, size_t srccount,             \
                                void* const srclist[], size_t srclen, gex_Flags_t flags);          \
  GEX_EXPORT_ result StridedGet(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],          \
                                gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],   \
                                size_t elemsz, const size_t count[], size_t stridelevels,          \
                                gex_Flags_t flags);                                                \
  GEX_EXPORT_ result StridedPut(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,                    \
                                const ptrdiff_t dststrides[], void* srcaddr,                       \
                                const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], \
                                size_t stridelevels, gex_Flags_t flags);
GEX_VIS_DECLARE_(gex_Event_t, gex_VIS_VectorGetNB, gex_VIS_VectorPutNB, gex_VIS_IndexedGetNB,
                 gex_VIS_IndexedPutNB, gex_VIS_StridedGetNB, gex_VIS_StridedPutNB)
GEX_VIS_DECLARE_(int, gex_VIS_VectorGetNBI, gex_VIS_VectorPutNBI, gex_VIS_IndexedGetNBI,
                 gex_VIS_IndexedPutNBI, gex_VIS_StridedGetNBI, gex_VIS_StridedPutNBI)
GEX_VIS_DECLARE_(int, gex_VIS_VectorGetBlocking, gex_VIS_VectorPutBlocking,
                 gex_VIS_IndexedGetBlocking, gex_VIS_IndexedPutBlocking, gex_VIS_StridedGetBlocking,
                 gex_VIS_StridedPutBlocking)
#undef GEX_VIS_DECLARE_

/** Largest payload, in bytes, of a peer completion handler. */
#define GEX_VIS_MAX_PEERCOMPLETION 127ul
/** Arms a medium reply handler without arguments, registered at the peer, for the thread's next
 * non-contiguous put, which must not have GEX_FLAG_IMMEDIATE: it runs at the peer when the put is
 * complete there, with the `nbytes` at `source_addr`, which are read until local completion. A put
 * of no bytes runs it too, unless it is a strided one of no such peer. handler 0 disarms. Flags: 0.
 */
GEX_EXPORT_ void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                                  size_t nbytes, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
