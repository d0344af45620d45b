/** @file
 * Non-contiguous put and get: vector, indexed and strided.
 *
 * Each call names both ends of a transfer in `tm`'s terms: the peer's addresses are in its bound
 * segment, the caller's anywhere. Destinations overlap neither one another nor a source. There is
 * one function for each form of completion, as for gex_RMA_PutNB.
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

/** @name Vector put and get
 * Copy between lists of memory ranges of different lengths.
 *
 * The bytes of the one list go, in its order, to those of the other. The lists may be cut
 * differently, but have as many bytes in all.
 *
 * @param tm        A team, or a TM-pair.
 * @param dstrank   Put: the peer, which the destination is of.
 * @param dstcount  Entries of `dstlist`.
 * @param dstlist   Ranges to write, which do not overlap. Ranges of 0 bytes are allowed.
 * @param srcrank   Get: the peer, which the source is of.
 * @param srccount  Entries of `srclist`.
 * @param srclist   Ranges to read.
 * @param flags     0 or an OR of #GEX_FLAG_IMMEDIATE and, for puts of the forms NB and NBI,
 *                  #GEX_FLAG_ENABLE_LEAF_LC: local completion of the payload can be learnt of as a
 *                  leaf (gex_Event_QueryLeaf with #GEX_EC_LC) or in category #GEX_EC_LC.
 * @return NB: an event, #GEX_EVENT_INVALID if the transfer is complete already. NBI and Blocking:
 *         0. With #GEX_FLAG_IMMEDIATE #GEX_EVENT_NO_OP or non-zero if nothing was started.
 * @par Completion
 * Both lists are read until the transfer is complete. The payload of a put must not change before
 * the transfer, or its local completion, is complete.
 * @par Ordering and visibility
 * As for gex_RMA_PutNB and gex_RMA_GetNB.
 * @par Errors
 * None is returned. The checking library ends the job with one line for addresses outside the
 * peer's segment and for lists of different sizes.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_Memvec_t to[2] = {{there, 8}, {there + 100, 24}}, from[1] = {{here, 32}};
 * gex_VIS_VectorPutBlocking(tm, peer, 2, to, 1, from, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Vector/Indexed/Strided (VIS)".
 * @see gex_VIS_IndexedPutNB, gex_VIS_StridedPutNB, gex_VIS_SetPeerCompletionHandler
 */
/**@{*/
GEX_EXPORT_ gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                            gex_Memvec_t const dstlist[], size_t srccount,
                                            gex_Memvec_t const srclist[], gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                     gex_Memvec_t const dstlist[], size_t srccount,
                                     gex_Memvec_t const srclist[], gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                          gex_Memvec_t const dstlist[], size_t srccount,
                                          gex_Memvec_t const srclist[], gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount,
                                            gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                                            size_t srccount, gex_Memvec_t const srclist[],
                                            gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                     gex_Rank_t srcrank, size_t srccount,
                                     gex_Memvec_t const srclist[], gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount,
                                          gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                                          size_t srccount, gex_Memvec_t const srclist[],
                                          gex_Flags_t flags);
/**@}*/

/** @name Indexed put and get
 * Copy between lists of memory ranges that are all of one length.
 *
 * The bytes of the one list go, in its order, to those of the other. The lengths may differ, but
 * dstcount * dstlen is srccount * srclen.
 *
 * @param tm        A team, or a TM-pair.
 * @param dstrank   Put: the peer, which the destination is of.
 * @param dstcount  Entries of `dstlist`.
 * @param dstlist   Addresses of the ranges to write, which do not overlap.
 * @param dstlen    Bytes of each.
 * @param srcrank   Get: the peer, which the source is of.
 * @param srccount  Entries of `srclist`.
 * @param srclist   Addresses of the ranges to read.
 * @param srclen    Bytes of each.
 * @param flags     0 or an OR of #GEX_FLAG_IMMEDIATE and, for puts of the forms NB and NBI,
 *                  #GEX_FLAG_ENABLE_LEAF_LC: local completion of the payload can be learnt of as a
 *                  leaf (gex_Event_QueryLeaf with #GEX_EC_LC) or in category #GEX_EC_LC.
 * @return NB: an event, #GEX_EVENT_INVALID if the transfer is complete already. NBI and Blocking:
 *         0. With #GEX_FLAG_IMMEDIATE #GEX_EVENT_NO_OP or non-zero if nothing was started.
 * @par Completion
 * Both lists are read until the transfer is complete. The payload of a put must not change before
 * the transfer, or its local completion, is complete.
 * @par Ordering and visibility
 * As for gex_RMA_PutNB and gex_RMA_GetNB.
 * @par Errors
 * None is returned. The checking library ends the job with one line for addresses outside the
 * peer's segment and for lists of different sizes.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * void* from[3] = {a, b, c};  // 64 bytes each
 * void* to[1] = {there};
 * gex_VIS_IndexedPutBlocking(tm, peer, 1, to, 192, 3, from, 64, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Vector/Indexed/Strided (VIS)".
 * @see gex_VIS_VectorPutNB, gex_VIS_StridedPutNB
 */
/**@{*/
GEX_EXPORT_ gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                             void* const dstlist[], size_t dstlen, size_t srccount,
                                             void* const srclist[], size_t srclen,
                                             gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                      void* const dstlist[], size_t dstlen, size_t srccount,
                                      void* const srclist[], size_t srclen, gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                           void* const dstlist[], size_t dstlen, size_t srccount,
                                           void* const srclist[], size_t srclen, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                             size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                             void* const srclist[], size_t srclen,
                                             gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                      size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                      void* const srclist[], size_t srclen, gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                           size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                           void* const srclist[], size_t srclen, gex_Flags_t flags);
/**@}*/

/** @name Strided put and get
 * Copy a part of an array of any number of dimensions to a part of another.
 *
 * Element (i0, i1, ...), each i_k from 0 to count[k] - 1, has `elemsz` contiguous bytes and stands
 * at the sum of i_k * strides[k] from the address. With `elemsz` 0 or a count of 0 nothing is moved
 * and no address is looked at; without levels it is one element.
 *
 * @param tm            A team, or a TM-pair.
 * @param dstrank       Put: the peer, which the destination is of.
 * @param dstaddr       Address of element (0, 0, ...) of the destination.
 * @param dststrides    Its strides in bytes, `stridelevels` of them, of any sign and order.
 *                      Elements of the destination do not overlap.
 * @param srcrank       Get: the peer, which the source is of.
 * @param srcaddr       Address of element (0, 0, ...) of the source.
 * @param srcstrides    Its strides.
 * @param elemsz        Bytes of an element.
 * @param count         Elements in each dimension, `stridelevels` of them.
 * @param stridelevels  Number of dimensions; 0 is allowed.
 * @param flags         0 or an OR of #GEX_FLAG_IMMEDIATE and, for puts of the forms NB and NBI,
 *                      #GEX_FLAG_ENABLE_LEAF_LC: local completion of the payload can be learnt of
 *                      as a leaf (gex_Event_QueryLeaf with #GEX_EC_LC) or in category #GEX_EC_LC.
 * @return NB: an event, #GEX_EVENT_INVALID if the transfer is complete already. NBI and Blocking:
 *         0. With #GEX_FLAG_IMMEDIATE #GEX_EVENT_NO_OP or non-zero if nothing was started.
 * @par Completion
 * Strides and counts are read within the call. The payload of a put must not change before the
 * transfer, or its local completion, is complete.
 * @par Ordering and visibility
 * As for gex_RMA_PutNB and gex_RMA_GetNB.
 * @par Errors
 * None is returned. The checking library ends the job with one line for addresses outside the
 * peer's segment.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * // a column of 100 doubles, out of rows of 1000, to consecutive ones at the peer
 * const ptrdiff_t from[1] = {1000 * sizeof(double)}, to[1] = {sizeof(double)};
 * const size_t count[1] = {100};
 * gex_VIS_StridedPutBlocking(tm, peer, there, to, &matrix[0][7], from, sizeof(double), count,
 *                            1, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Vector/Indexed/Strided (VIS)".
 * @see gex_VIS_VectorPutNB, gex_VIS_IndexedPutNB, gex_RMA_PutNB
 */
/**@{*/
GEX_EXPORT_ gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                             const ptrdiff_t dststrides[], void* srcaddr,
                                             const ptrdiff_t srcstrides[], size_t elemsz,
                                             const size_t count[], size_t stridelevels,
                                             gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                      const ptrdiff_t dststrides[], void* srcaddr,
                                      const ptrdiff_t srcstrides[], size_t elemsz,
                                      const size_t count[], size_t stridelevels, gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                           const ptrdiff_t dststrides[], void* srcaddr,
                                           const ptrdiff_t srcstrides[], size_t elemsz,
                                           const size_t count[], size_t stridelevels,
                                           gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void* dstaddr,
                                             const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                                             void* srcaddr, const ptrdiff_t srcstrides[],
                                             size_t elemsz, const size_t count[],
                                             size_t stridelevels, gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_StridedGetNBI(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                      gex_Rank_t srcrank, void* srcaddr,
                                      const ptrdiff_t srcstrides[], size_t elemsz,
                                      const size_t count[], size_t stridelevels, gex_Flags_t flags);
GEX_EXPORT_ int gex_VIS_StridedGetBlocking(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                           gex_Rank_t srcrank, void* srcaddr,
                                           const ptrdiff_t srcstrides[], size_t elemsz,
                                           const size_t count[], size_t stridelevels,
                                           gex_Flags_t flags);
/**@}*/

/** @name Peer completion
 * Arm a handler that runs at the peer of the thread's next non-contiguous put, when the put is
 * complete there.
 *
 * The put must not have #GEX_FLAG_IMMEDIATE. A put of no bytes runs the handler too, unless it is a
 * strided one to a rank that does not exist.
 *
 * @param handler      Index of a medium handler for replies, without arguments, that is registered
 *                     at the peer's endpoint. 0 disarms.
 * @param source_addr  The handler's payload, which is read until local completion of the put.
 * @param nbytes       Its bytes, at most #GEX_VIS_MAX_PEERCOMPLETION; 0 is allowed.
 * @param flags        0.
 * @par Context
 * Any thread, for its own next put; not in handlers.
 * @par Example
 * @code
 * gex_VIS_SetPeerCompletionHandler(COLUMN_ARRIVED, &number, sizeof number, 0);
 * gex_VIS_StridedPutNBI(tm, peer, there, column, here, row, sizeof(double), &length, 1, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Vector/Indexed/Strided (VIS)".
 * @see gex_VIS_StridedPutNB, gex_EP_RegisterHandlers
 */
/**@{*/
/** Largest payload, in bytes, of a peer completion handler. */
#define GEX_VIS_MAX_PEERCOMPLETION 127ul
GEX_EXPORT_ void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                                  size_t nbytes, gex_Flags_t flags);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
