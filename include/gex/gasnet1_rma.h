/* GASNet-1: put, get, memset, values, and their synchronisation. Part of gasnet.h. Spec: GASNet-1
 * 1.8, "Extended API" but for barriers and threads (gasnet1_core.h).
 *
 * Those of rma.h and event.h over the primordial team: remote memory is in the peer's segment, by
 * the owner's addresses, local memory anywhere. A peer whose segment is mapped here is reached
 * inline; non-blocking calls then return GASNET_INVALID_HANDLE. Errors end the job. Any thread, not
 * in handlers, not while holding a lock.
 *
 * bulk: unaligned memory, and for puts that are not blocking a source that belongs to the operation
 * until it is synchronised. Alignment makes no difference here, so the blocking bulk calls are the
 * plain ones.
 */
#ifndef GEX_GASNET1_RMA_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_GASNET1_RMA_H_

#include <gex/event.h>
#include <gex/gasnet1_job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A value on its way; there is no invalid one. Holds a value that is here already, above bit 0, if
 * that leaves room for it, else names a record. */
typedef struct _gex_ValueGet* gasnet_valget_handle_t;

/* Forms of gasnet_try_syncnb for arrays, see "Synchronisation" below. */
GEX_EXPORT_ int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t numhandles);
GEX_EXPORT_ int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t numhandles);

#ifdef GEX_BODIES_
/* Blocking */

/** Copies `nbytes` bytes from `src` of `node` to local `dest`. */
GEX_INLINE_ void gasnet_get(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(gex_proc_.gasnet1_team, dest, node, src, nbytes, 0);
}
/** Copies `nbytes` bytes from local `src` to `dest` of `node`. */
GEX_INLINE_ void gasnet_put(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(gex_proc_.gasnet1_team, node, dest, src, nbytes, 0);
}
GEX_INLINE_ void gasnet_get_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  gasnet_get(dest, node, src, nbytes);
}
GEX_INLINE_ void gasnet_put_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  gasnet_put(node, dest, src, nbytes);
}

/* Explicit handles. Each is synchronised once, by the thread that started the operation. */

GEX_INLINE_ gasnet_handle_t gasnet_get_nb(void* dest, gasnet_node_t node, void* src,
                                          size_t nbytes) {
  return gex_RMA_GetNB(gex_proc_.gasnet1_team, dest, node, src, nbytes, 0);
}
GEX_INLINE_ gasnet_handle_t gasnet_get_nb_bulk(void* dest, gasnet_node_t node, void* src,
                                               size_t nbytes) {
  return gasnet_get_nb(dest, node, src, nbytes);
}
GEX_INLINE_ gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void* dest, const void* src,
                                          size_t nbytes) {
  return gex_RMA_PutNB(gex_proc_.gasnet1_team, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
GEX_INLINE_ gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void* dest, const void* src,
                                               size_t nbytes) {
  return gex_RMA_PutNB(gex_proc_.gasnet1_team, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}

/* Implicit handles: synchronised by category (gets, puts), by the thread that started them. */

GEX_INLINE_ void gasnet_get_nbi(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetNBI(gex_proc_.gasnet1_team, dest, node, src, nbytes, 0);
}
GEX_INLINE_ void gasnet_get_nbi_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  gasnet_get_nbi(dest, node, src, nbytes);
}
GEX_INLINE_ void gasnet_put_nbi(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutNBI(gex_proc_.gasnet1_team, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
GEX_INLINE_ void gasnet_put_nbi_bulk(gasnet_node_t node, void* dest, const void* src,
                                     size_t nbytes) {
  (void)gex_RMA_PutNBI(gex_proc_.gasnet1_team, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}

/* memset(dest, val, nbytes) in the memory of `node`; synchronised as a put. */

GEX_EXPORT_ void gex_memset_(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ void gex_memset_nbi_(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gex_memset_nb_(gasnet_node_t node, void* dest, int val, size_t nbytes);

GEX_INLINE_ void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  const intptr_t displacement = gex_rma_displacement_(gex_proc_.gasnet1_team, node);
  if (GEX_RMA_DIRECT_(displacement, 0))
    memset((char*)dest + displacement, val, nbytes);
  else
    gex_memset_(node, dest, val, nbytes);
}
GEX_INLINE_ gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void* dest, int val,
                                             size_t nbytes) {
  const intptr_t displacement = gex_rma_displacement_(gex_proc_.gasnet1_team, node);
  if (GEX_RMA_DIRECT_(displacement, 0)) {
    memset((char*)dest + displacement, val, nbytes);
    return GASNET_INVALID_HANDLE;
  }
  return gex_memset_nb_(node, dest, val, nbytes);
}
GEX_INLINE_ void gasnet_memset_nbi(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  const intptr_t displacement = gex_rma_displacement_(gex_proc_.gasnet1_team, node);
  if (GEX_RMA_DIRECT_(displacement, 0))
    memset((char*)dest + displacement, val, nbytes);
  else
    gex_memset_nbi_(node, dest, val, nbytes);
}

/* Values of 1 to 8 bytes: the low-order ones, as an integer of that width has them in memory. */

GEX_INLINE_ void gasnet_put_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                size_t nbytes) {
  (void)gex_RMA_PutBlockingVal(gex_proc_.gasnet1_team, node, dest, value, nbytes, 0);
}
GEX_INLINE_ gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void* dest,
                                              gasnet_register_value_t value, size_t nbytes) {
  return gex_RMA_PutNBVal(gex_proc_.gasnet1_team, node, dest, value, nbytes, 0);
}
GEX_INLINE_ void gasnet_put_nbi_val(gasnet_node_t node, void* dest, gasnet_register_value_t value,
                                    size_t nbytes) {
  (void)gex_RMA_PutNBIVal(gex_proc_.gasnet1_team, node, dest, value, nbytes, 0);
}
/** The value, with zeros above its `nbytes` bytes. */
GEX_INLINE_ gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void* src, size_t nbytes) {
  return gex_RMA_GetBlockingVal(gex_proc_.gasnet1_team, node, src, nbytes, 0);
}

GEX_EXPORT_ gasnet_valget_handle_t gex_get_nb_val_(gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ gasnet_register_value_t gex_wait_valget_(gasnet_valget_handle_t handle);

/** Starts a get whose result gasnet_wait_syncnb_valget, by the same thread, returns. */
GEX_INLINE_ gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src, size_t nbytes) {
  const intptr_t displacement = gex_rma_displacement_(gex_proc_.gasnet1_team, node);
  if (GEX_RMA_DIRECT_(displacement, 0)) {
    const gasnet_register_value_t value = gasnet_get_val(node, src, nbytes);
    if (GEX_LIKELY_(!(value >> 63))) return (gasnet_valget_handle_t)(uintptr_t)(value << 1 | 1);
  }
  return gex_get_nb_val_(node, src, nbytes);
}
GEX_INLINE_ gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
  if (GEX_LIKELY_((uintptr_t)handle & 1u)) return (uintptr_t)handle >> 1;
  return gex_wait_valget_(handle);
}

/* Synchronisation. Success ends the handle; GASNET_INVALID_HANDLE is complete, and in arrays
 * overwrites what has completed. wait polls until it is so; try polls once and returns GASNET_OK or
 * GASNET_ERR_NOT_READY. some: at least one of those that are not GASNET_INVALID_HANDLE, if any. */

GEX_EXPORT_ int gex_try_syncnb_(gasnet_handle_t handle);

GEX_INLINE_ void gasnet_wait_syncnb(gasnet_handle_t handle) {
  gex_Event_Wait(handle);
}
GEX_INLINE_ int gasnet_try_syncnb(gasnet_handle_t handle) {
  return gex_try_syncnb_(handle);
}
GEX_INLINE_ void gasnet_wait_syncnb_all(gasnet_handle_t* handles, size_t numhandles) {
  gex_Event_WaitAll(handles, numhandles, 0);
}
GEX_INLINE_ void gasnet_wait_syncnb_some(gasnet_handle_t* handles, size_t numhandles) {
  gex_Event_WaitSome(handles, numhandles, 0);
}

GEX_EXPORT_ int gex_try_syncnbi_(gex_EC_t categories);

/* What the calling thread has started with implicit handles outside access regions. */
GEX_INLINE_ void gasnet_wait_syncnbi_gets(void) {
  gex_NBI_Wait(GEX_EC_GET, 0);
}
GEX_INLINE_ void gasnet_wait_syncnbi_puts(void) {
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
GEX_INLINE_ void gasnet_wait_syncnbi_all(void) {
  gex_NBI_Wait(GEX_EC_GET | GEX_EC_PUT, 0);
}
GEX_INLINE_ int gasnet_try_syncnbi_gets(void) {
  return gex_try_syncnbi_(GEX_EC_GET);
}
GEX_INLINE_ int gasnet_try_syncnbi_puts(void) {
  return gex_try_syncnbi_(GEX_EC_PUT);
}
GEX_INLINE_ int gasnet_try_syncnbi_all(void) {
  return gex_try_syncnbi_(GEX_EC_GET | GEX_EC_PUT);
}

/* Access regions: what the thread starts with implicit handles between begin and end belongs to the
 * handle that end returns. They do not nest, and nothing implicit is synchronised in one. */
GEX_INLINE_ void gasnet_begin_nbi_accessregion(void) {
  gex_NBI_BeginAccessRegion(0);
}
GEX_INLINE_ gasnet_handle_t gasnet_end_nbi_accessregion(void) {
  return gex_NBI_EndAccessRegion(0);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
