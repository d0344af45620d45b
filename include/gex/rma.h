/** @file
 * Contiguous put and get. Part of gasnetex.h.
 *
 * A put copies memory of this process into the segment of a peer, a get copies the other way round,
 * and the peer's program takes no part in it. Three forms differ in how the caller learns of the
 * end: Blocking returns when all is done, NB returns an event, NBI counts the operation among the
 * thread's implicit ones (gex/event.h).
 *
 * When the peer's segment is mapped into this process and no flag asks for more, a call is the copy
 * itself, inline: operations are then complete on return, NB calls return GEX_EVENT_INVALID.
 */
#ifndef GEX_RMA_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_RMA_H_

#include <gex/objects.h>
#ifdef GEX_BODIES_
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Register-sized values
 * The widest value that the ...Val calls move, and its bytes as a number that `#if` understands.
 */
/**@{*/
typedef uint64_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T 8
/**@}*/

/* Flags under which a remote address is not simply an address in the peer's bound segment. */
#define GEX_RMA_OUT_OF_LINE_                                                       \
  (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_OFFSET | \
   GEX_FLAG_SELF_SEG_OFFSET)

GEX_EXPORT_ int gex_put_blocking_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                  size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_put_nbi_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                             size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_put_nb_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                    size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags);
GEX_EXPORT_ int gex_get_blocking_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                  size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_get_nbi_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                             gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_get_nb_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                    size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ gex_RMA_Value_t gex_get_value_(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                                           gex_Flags_t flags);
GEX_EXPORT_ int gex_put_value_blocking_(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                        gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ int gex_put_value_nbi_(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                   size_t nbytes, gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_put_value_nb_(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                          gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);

#ifdef GEX_BODIES_
/* Displacement of the peer's bound segment, or GEX_NOT_MAPPED_ when the team cannot be read here.
 */
GEX_HELPER_ intptr_t gex_rma_displacement_(gex_TM_t tm, gex_Rank_t rank) {
  return GEX_UNLIKELY_(!GEX_IS_READABLE_TEAM_(tm)) ? GEX_NOT_MAPPED_
                                                   : GEX_TEAM_DISPLACEMENT_(tm)[rank];
}
/* Whether the copy can be made here: one test of the displacement and the flags together. */
#define GEX_RMA_DIRECT_(displacement, flags)           \
  GEX_LIKELY_(!(((displacement) | (intptr_t)(flags)) & \
                (GEX_NOT_MAPPED_ | (intptr_t)GEX_RMA_OUT_OF_LINE_)))

/* C allows memcpy no null address, not even for 0 bytes, and compilers draw conclusions from that.
 *
 * GCC copies a constant number of bytes from 257 to 8192 by a string instruction, which takes up to
 * twice as long as the C library's function: such a number is hidden from it.
 */
GEX_HELPER_ void gex_rma_copy_(void* to, const void* from, size_t nbytes) {
  if (__builtin_constant_p(nbytes) && nbytes > 256) {
    __asm__("" : "+r"(nbytes));
    memcpy(to, from, nbytes);
  } else if (nbytes != 0) {
    memcpy(to, from, nbytes);
  }
}

/** @name Put
 * Copies `nbytes` bytes from `src` in this process to `dest` at the peer.
 *
 * @param tm      A team, or a TM-pair (gex_TM_Pair).
 * @param rank    The peer: a rank of `tm`; the caller's own is allowed.
 * @param dest    Where the bytes go, within the segment that is bound to the peer's endpoint: an
 *                address of the owner, or with #GEX_FLAG_PEER_SEG_OFFSET an offset into the
 *                segment. Any alignment.
 * @param src     Where they come from: any memory of this process, any alignment, not overlapping
 *                the destination. It must not change before local completion. With
 *                #GEX_FLAG_SELF_SEG_OFFSET an offset into the segment of the caller's endpoint.
 * @param nbytes  Bytes to copy. 0 is allowed, and moves nothing.
 * @param lc_opt  How local completion is learnt of: that `src` may be written to again.
 *                #GEX_EVENT_NOW: the call returns after it. #GEX_EVENT_DEFER: together with the
 *                operation as a whole. NBI only, #GEX_EVENT_GROUP: in category #GEX_EC_LC of the
 *                implicit operations. NB only, the address of a variable: it receives a leaf event,
 *                which is written before the call returns.
 * @param flags   0 or an OR of #GEX_FLAG_IMMEDIATE, #GEX_FLAG_LC_COPY_YES or #GEX_FLAG_LC_COPY_NO,
 *                the segment flags GEX_FLAG_SELF_SEG_... and GEX_FLAG_PEER_SEG_...,
 *                #GEX_FLAG_PEER_NEVER_SELF and #GEX_FLAG_PEER_NEVER_NBRHD.
 * @return PutNB: the root event, #GEX_EVENT_INVALID if the put is complete already, or
 *         #GEX_EVENT_NO_OP. PutBlocking and PutNBI: 0, or non-zero. NO_OP and non-zero are returned
 *         only with #GEX_FLAG_IMMEDIATE; then nothing was started, and a variable for `lc_opt`
 *         means nothing.
 * @par Completion
 * The put is complete when all bytes are in the peer's memory. Local completion comes no later.
 * @par Ordering and visibility
 * Puts and gets under way are not ordered, whatever their peers are; two that overlap in memory,
 * one of them a put, leave undefined bytes. A put that is complete comes before everything that the
 * caller starts afterwards: a message sent then finds the bytes at the peer. The peer learns of
 * them only from such a message, a barrier or a flag that it polls for.
 * @par Copies
 * With #GEX_FLAG_LC_COPY_YES a put that a network takes from its source is sent from a copy, unless
 * local completion is deferred, so that the source may be reused on return. No more than 16 MiB are
 * copied at a time; what is above that is sent as without the flag. An immediate put with
 * #GEX_EVENT_NOW, which must not wait, is copied whatever its size, and refused while there is no
 * room for that.
 * @par Errors
 * None is returned. A peer that has died ends the job. In the checking library a rank that `tm`
 * does not have, a range outside the peer's segment, a peer without a published segment and a false
 * PEER_NEVER flag end the job with one line.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL. A call without #GEX_FLAG_IMMEDIATE may
 * poll, and so run handlers.
 * @par Example
 * @code
 * gex_Event_t reusable;
 * gex_Event_t done = gex_RMA_PutNB(tm, peer, remote, block, sizeof block, &reusable, 0);
 * gex_Event_Wait(reusable);  // block may be written to from here on
 * fill(block);
 * gex_Event_Wait(done);      // the bytes are at the peer
 * @endcode
 * @par Specification
 * GASNet-EX, "Extended API".
 * @see gex_RMA_GetNB, gex_RMA_PutNBVal, gex_VIS_StridedPutNB, gex_Event_Wait, gex_NBI_Wait
 */
/**@{*/
/** Returns when the put is complete. */
GEX_INLINE_ int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                    size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_((char*)dest + displacement, src, nbytes);
    return 0;
  }
  return gex_put_blocking_(tm, rank, dest, src, nbytes, flags);
}

/** Counts the put in category #GEX_EC_PUT of the thread's implicit operations. */
GEX_INLINE_ int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                               size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_((char*)dest + displacement, src, nbytes);
    return 0;
  }
  return gex_put_nbi_(tm, rank, dest, src, nbytes, lc_opt, flags);
}

/** Returns an event that completes with the put. */
GEX_INLINE_ gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                      size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_((char*)dest + displacement, src, nbytes);
    if ((uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
    return GEX_EVENT_INVALID;
  }
  return gex_put_nb_(tm, rank, dest, src, nbytes, lc_opt, flags);
}

/**@}*/

/** @name Get
 * Copies `nbytes` bytes from `src` at the peer to `dest` in this process.
 *
 * @param tm      A team, or a TM-pair (gex_TM_Pair).
 * @param dest    Where the bytes go: any memory of this process, any alignment, not overlapping the
 *                source. Undefined until the get is complete. With #GEX_FLAG_SELF_SEG_OFFSET an
 *                offset into the segment of the caller's endpoint.
 * @param rank    The peer: a rank of `tm`; the caller's own is allowed.
 * @param src     Where they come from, within the segment that is bound to the peer's endpoint: an
 *                address of the owner, or with #GEX_FLAG_PEER_SEG_OFFSET an offset into the
 *                segment. Any alignment.
 * @param nbytes  Bytes to copy. 0 is allowed, and moves nothing.
 * @param flags   0 or an OR of #GEX_FLAG_IMMEDIATE, the segment flags GEX_FLAG_SELF_SEG_... and
 *                GEX_FLAG_PEER_SEG_..., #GEX_FLAG_PEER_NEVER_SELF and #GEX_FLAG_PEER_NEVER_NBRHD.
 * @return GetNB: the event, #GEX_EVENT_INVALID if the get is complete already, or #GEX_EVENT_NO_OP.
 *         GetBlocking and GetNBI: 0, or non-zero. NO_OP and non-zero are returned only with
 *         #GEX_FLAG_IMMEDIATE; then nothing was started.
 * @par Completion
 * The get is complete when all bytes are at `dest`, and the source has been read.
 * @par Ordering and visibility
 * Puts and gets under way are not ordered. A get reads what a put to the same memory left there if
 * that put was complete before the get was started.
 * @par Errors
 * None is returned. A peer that has died ends the job; the checking library ends it as for a put.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL. A call without #GEX_FLAG_IMMEDIATE may
 * poll, and so run handlers.
 * @par Example
 * @code
 * double row[64];
 * gex_RMA_GetBlocking(tm, row, peer, remote_row, sizeof row, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Extended API".
 * @see gex_RMA_PutNB, gex_RMA_GetBlockingVal, gex_VIS_StridedGetNB, gex_Event_Wait, gex_NBI_Wait
 */
/**@{*/
/** Returns when the get is complete. */
GEX_INLINE_ int gex_RMA_GetBlocking(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                    size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return 0;
  }
  return gex_get_blocking_(tm, dest, rank, src, nbytes, flags);
}

/** Counts the get in category #GEX_EC_GET of the thread's implicit operations. */
GEX_INLINE_ int gex_RMA_GetNBI(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                               gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return 0;
  }
  return gex_get_nbi_(tm, dest, rank, src, nbytes, flags);
}

/** Returns an event that completes with the get. */
GEX_INLINE_ gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                      size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return GEX_EVENT_INVALID;
  }
  return gex_get_nb_(tm, dest, rank, src, nbytes, flags);
}

/**@}*/

/* The bytes of a value as they travel: its `nbytes` low-order ones, in the machine's order. */
GEX_HELPER_ const void* gex_value_bytes_(const gex_RMA_Value_t* value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (const char*)value + (sizeof *value - nbytes);
#else
  (void)nbytes;
  return value;
#endif
}

/** @name Put and get of a value
 * Write or read an integer of 1 to 8 bytes that is passed by value, without a buffer of the
 * caller's.
 *
 * The bytes stand at the peer as an integer of that width does in its memory, in the machine's
 * order. A width that the processor stores at once, aligned, is written in one piece.
 *
 * @param tm      A team, or a TM-pair (gex_TM_Pair).
 * @param rank    The peer: a rank of `tm`.
 * @param dest    Where a put writes, within the peer's bound segment, as for gex_RMA_PutNB.
 * @param src     Where a get reads, within the peer's bound segment, as for gex_RMA_GetNB.
 * @param value   What is put: its `nbytes` low-order bytes.
 * @param nbytes  Bytes of the integer at the peer, 1 to 8.
 * @param flags   As for gex_RMA_PutNB and gex_RMA_GetNB; GetBlockingVal takes no
 *                #GEX_FLAG_IMMEDIATE.
 * @return GetBlockingVal: the value read, with zeros above its `nbytes` bytes. PutNBVal: an event.
 *         PutBlockingVal and PutNBIVal: 0. With #GEX_FLAG_IMMEDIATE #GEX_EVENT_NO_OP or non-zero if
 *         nothing was started.
 * @par Completion
 * As for gex_RMA_PutNB. There is no local completion, because there is no source in memory.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_RMA_PutBlockingVal(tm, peer, remote_flag, 1, sizeof(uint32_t), 0);
 * uint32_t seen = (uint32_t)gex_RMA_GetBlockingVal(tm, peer, remote_flag, sizeof seen, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Extended API".
 * @see gex_RMA_PutNB, gex_RMA_GetNB, gex_AD_OpNB_U64
 */
/**@{*/
/** Returns the value read. */
GEX_INLINE_ gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* src,
                                                   size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_RMA_Value_t value = 0;
    memcpy((void*)(uintptr_t)gex_value_bytes_(&value, nbytes), (const char*)src + displacement,
           nbytes);
    return value;
  }
  return gex_get_value_(tm, rank, src, nbytes, flags);
}

/** Returns when the value is in the peer's memory. */
GEX_INLINE_ int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                       gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return 0;
  }
  return gex_put_value_blocking_(tm, rank, dest, value, nbytes, flags);
}
/** Counts the put in category #GEX_EC_PUT of the thread's implicit operations. */
GEX_INLINE_ int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return 0;
  }
  return gex_put_value_nbi_(tm, rank, dest, value, nbytes, flags);
}
/** Returns an event that completes with the put. */
GEX_INLINE_ gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                         gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return GEX_EVENT_INVALID;
  }
  return gex_put_value_nb_(tm, rank, dest, value, nbytes, flags);
}
/**@}*/
#endif

#ifdef __cplusplus
}
#endif
#endif
