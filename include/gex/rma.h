/* Contiguous put and get. Spec: "Extended API". Part of gasnetex.h.
 *
 * (tm, rank) names the peer's endpoint; the remote range lies in its bound segment and is given by
 * the owner's addresses (or offsets, with GEX_FLAG_PEER_SEG_OFFSET). Local memory is anywhere.
 * int results are non-zero, and NB results GEX_EVENT_NO_OP, only when GEX_FLAG_IMMEDIATE was given
 * and nothing was done. Any thread; not in handlers, not while holding an HSL.
 *
 * With GEX_FLAG_LC_COPY_YES a put that a network takes from its source is sent from a copy, unless
 * its local completion is GEX_EVENT_DEFER: the source may be reused on return. No more than 16 MiB
 * are copied at a time; what is above that is sent as without the flag. With GEX_FLAG_LC_COPY_NO,
 * as without either, only messages copy their payload. The two exclude one another. An immediate
 * put with GEX_EVENT_NOW, which must not wait, is copied whatever its size, and refused while there
 * is no room for that.
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

/** The widest value that travels in a register. */
typedef uint64_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T 8

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

/** Copies `nbytes` bytes from local `src` to `dest` of the peer; complete on return. */
GEX_INLINE_ int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                    size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_((char*)dest + displacement, src, nbytes);
    return 0;
  }
  return gex_put_blocking_(tm, rank, dest, src, nbytes, flags);
}

/** Implicit form, category GEX_EC_PUT. lc_opt: GEX_EVENT_NOW, DEFER, or GROUP (then local
 * completion is category GEX_EC_LC). */
GEX_INLINE_ int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                               size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_((char*)dest + displacement, src, nbytes);
    return 0;
  }
  return gex_put_nbi_(tm, rank, dest, src, nbytes, lc_opt, flags);
}

/** Explicit form. lc_opt: GEX_EVENT_NOW, DEFER, or a variable that receives the leaf. */
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

/** Copies `nbytes` bytes from `src` of the peer to local `dest`; complete on return. */
GEX_INLINE_ int gex_RMA_GetBlocking(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                    size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return 0;
  }
  return gex_get_blocking_(tm, dest, rank, src, nbytes, flags);
}

/** Implicit form, category GEX_EC_GET. */
GEX_INLINE_ int gex_RMA_GetNBI(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                               gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return 0;
  }
  return gex_get_nbi_(tm, dest, rank, src, nbytes, flags);
}

/** Explicit form. */
GEX_INLINE_ gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                      size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    gex_rma_copy_(dest, (const char*)src + displacement, nbytes);
    return GEX_EVENT_INVALID;
  }
  return gex_get_nb_(tm, dest, rank, src, nbytes, flags);
}

/* The bytes of a value as they travel: its `nbytes` low-order ones, in the machine's order. */
GEX_HELPER_ const void* gex_value_bytes_(const gex_RMA_Value_t* value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (const char*)value + (sizeof *value - nbytes);
#else
  (void)nbytes;
  return value;
#endif
}

/** Reads `nbytes` (1 to 8) bytes from `src` of the peer, as an unsigned integer. */
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

/** Writes the `nbytes` (1 to 8) low-order bytes of `value` to `dest` of the peer. */
GEX_INLINE_ int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                       gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return 0;
  }
  return gex_put_value_blocking_(tm, rank, dest, value, nbytes, flags);
}
/** Implicit form, category GEX_EC_PUT. */
GEX_INLINE_ int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return 0;
  }
  return gex_put_value_nbi_(tm, rank, dest, value, nbytes, flags);
}
/** Explicit form. */
GEX_INLINE_ gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                         gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t displacement = gex_rma_displacement_(tm, rank);
  if (GEX_RMA_DIRECT_(displacement, flags)) {
    memcpy((char*)dest + displacement, gex_value_bytes_(&value, nbytes), nbytes);
    return GEX_EVENT_INVALID;
  }
  return gex_put_value_nb_(tm, rank, dest, value, nbytes, flags);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
