/** @file
 * GASNet-1: put, get, memset, values, and their synchronisation. Part of gasnet.h.
 *
 * They are those of rma.h and event.h over the primordial team. A peer whose segment is mapped here
 * is reached inline; non-blocking calls then return #GASNET_INVALID_HANDLE.
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

/** A value on its way, from gasnet_get_nb_val to gasnet_wait_syncnb_valget; there is no invalid
 * one.
 * @see gasnet_get_nb_val
 */
/* Holds a value that is here already, above bit 0, if that leaves room for it, else names a record.
 */
typedef struct _gex_ValueGet* gasnet_valget_handle_t;

/** @name Blocking put and get (GASNet-1)
 * Copy `nbytes` bytes between this process and the segment of a peer, and return when it is done.
 *
 * @param dest    Where the bytes go: of get anywhere in this process, of put in the peer's segment,
 *                by the owner's address.
 * @param node    The peer's rank.
 * @param src     Where they come from: of get in the peer's segment, of put anywhere in this
 *                process.
 * @param nbytes  Bytes to copy; 0 is allowed. With _bulk memory may be unaligned; here it may
 *                always be.
 * @par Errors
 * None is returned; they end the job.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_put(peer, there, block, sizeof block);
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_RMA_PutBlocking, gex_RMA_GetBlocking
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_get(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(gex_proc_.gasnet1_team, dest, node, src, nbytes, 0);
}
GEX_INLINE_ void gasnet_put(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(gex_proc_.gasnet1_team, node, dest, src, nbytes, 0);
}
GEX_INLINE_ void gasnet_get_bulk(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  gasnet_get(dest, node, src, nbytes);
}
GEX_INLINE_ void gasnet_put_bulk(gasnet_node_t node, void* dest, const void* src, size_t nbytes) {
  gasnet_put(node, dest, src, nbytes);
}

#endif
/**@}*/

/** @name Non-blocking put and get with a handle (GASNet-1)
 * Start a copy between this process and the segment of a peer, and return a handle.
 *
 * @param dest    As for gasnet_put and gasnet_get.
 * @param node    The peer's rank.
 * @param src     As for gasnet_put and gasnet_get. The source of a put belongs to the operation
 *                until it is synchronised with _bulk, and until the call returns without.
 * @param nbytes  Bytes to copy; 0 is allowed.
 * @return A handle, which the thread that started the operation synchronises once;
 *         #GASNET_INVALID_HANDLE if the operation is complete already.
 * @par Errors
 * None is returned; they end the job.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_handle_t put = gasnet_put_nb_bulk(peer, there, block, sizeof block);
 * compute();
 * gasnet_wait_syncnb(put);  // block may be written to from here on
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gasnet_wait_syncnb, gex_RMA_PutNB, gex_RMA_GetNB
 */
/**@{*/
#ifdef GEX_BODIES_
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

#endif
/**@}*/

/** @name Non-blocking put and get without a handle (GASNet-1)
 * Start a copy between this process and the segment of a peer, which is synchronised together with
 * others.
 *
 * @param dest    As for gasnet_put and gasnet_get.
 * @param node    The peer's rank.
 * @param src     As for gasnet_put_nb and gasnet_get_nb.
 * @param nbytes  Bytes to copy; 0 is allowed.
 * @par Completion
 * By gasnet_wait_syncnbi_puts and its kind, in the thread that started the operation.
 * @par Errors
 * None is returned; they end the job.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * for (int i = 0; i < NEIGHBORS; ++i) gasnet_put_nbi(neighbor[i], ghost[i], edge[i], bytes);
 * gasnet_wait_syncnbi_puts();
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gasnet_wait_syncnbi_puts, gex_RMA_PutNBI, gex_RMA_GetNBI
 */
/**@{*/
#ifdef GEX_BODIES_
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

#endif
/**@}*/

/** @name Memset (GASNet-1)
 * Write one byte value to a range of a peer's segment; synchronised as a put.
 *
 * @param node    The peer's rank.
 * @param dest    Where the range begins, by the owner's address.
 * @param val     The value, converted to unsigned char.
 * @param nbytes  Bytes of the range; 0 is allowed.
 * @return memset_nb: a handle, as gasnet_put_nb.
 * @par Errors
 * None is returned; they end the job.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_memset(peer, there, 0, nbytes);
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gasnet_put, gasnet_wait_syncnb, gasnet_wait_syncnbi_puts
 */
/**@{*/
GEX_EXPORT_ void gex_memset_(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ void gex_memset_nbi_(gasnet_node_t node, void* dest, int val, size_t nbytes);
GEX_EXPORT_ gasnet_handle_t gex_memset_nb_(gasnet_node_t node, void* dest, int val, size_t nbytes);

#ifdef GEX_BODIES_
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

#endif
/**@}*/

/** @name Values (GASNet-1)
 * Write or read an integer of 1 to 8 bytes that is passed by value.
 *
 * @param node    The peer's rank.
 * @param dest    Where a put writes, in the peer's segment.
 * @param src     Where a get reads, in the peer's segment.
 * @param value   What is put: its `nbytes` low-order bytes.
 * @param nbytes  Bytes of the integer at the peer, 1 to 8.
 * @param handle  What gasnet_get_nb_val returned; synchronised once, by the same thread.
 * @return get_val and wait_syncnb_valget: the value, with zeros above its bytes. put_nb_val: a
 *         handle.
 * @par Errors
 * None is returned; they end the job.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_valget_handle_t handle = gasnet_get_nb_val(peer, remote_flag, sizeof(uint32_t));
 * compute();
 * uint32_t seen = (uint32_t)gasnet_wait_syncnb_valget(handle);
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_RMA_PutNBVal, gex_RMA_GetBlockingVal
 */
/**@{*/
#ifdef GEX_BODIES_
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
GEX_INLINE_ gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void* src, size_t nbytes) {
  return gex_RMA_GetBlockingVal(gex_proc_.gasnet1_team, node, src, nbytes, 0);
}

#endif

GEX_EXPORT_ gasnet_valget_handle_t gex_get_nb_val_(gasnet_node_t node, void* src, size_t nbytes);
GEX_EXPORT_ gasnet_register_value_t gex_wait_valget_(gasnet_valget_handle_t handle);

#ifdef GEX_BODIES_
/** Starts a get, whose result gasnet_wait_syncnb_valget returns. */
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

#endif
/**@}*/

GEX_EXPORT_ int gex_try_syncnb_(gasnet_handle_t handle);
GEX_EXPORT_ int gex_try_syncnbi_(gex_EC_t categories);

/** @name Synchronise handles (GASNet-1)
 * Wait, or try, until operations with handles are complete.
 *
 * @param handle      A handle, which success ends. #GASNET_INVALID_HANDLE is complete.
 * @param handles     An array of handles, in which #GASNET_INVALID_HANDLE is ignored and overwrites
 *                    what has completed.
 * @param numhandles  Entries of the array.
 * @return try calls: GASNET_OK, or GASNET_ERR_NOT_READY. _all: when all are complete; _some: when
 *         at least one of those that are not #GASNET_INVALID_HANDLE is, if any.
 * @par Context
 * Any thread; not in handlers, not while holding a lock. wait polls until it is so, try polls once.
 * @par Example
 * @code
 * gasnet_handle_t handles[2] = {gasnet_get_nb(here, peer, there, nbytes),
 *                               gasnet_put_nb(peer, remote, block, sizeof block)};
 * gasnet_wait_syncnb_all(handles, 2);
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_Event_Wait, gex_Event_WaitAll
 */
/**@{*/
GEX_EXPORT_ int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t numhandles);
GEX_EXPORT_ int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t numhandles);
#ifdef GEX_BODIES_
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

#endif
/**@}*/

/** @name Synchronise operations without handles (GASNet-1)
 * Wait, or try, until what the calling thread has started without handles is complete, outside
 * access regions: its gets, its puts (memset among them), or all.
 *
 * @return try calls: GASNET_OK, or GASNET_ERR_NOT_READY.
 * @par Context
 * Any thread; not in an access region, not in handlers, not while holding a lock. wait polls until
 * it is so, try polls once.
 * @par Example
 * @code
 * while (gasnet_try_syncnbi_gets() == GASNET_ERR_NOT_READY) compute_a_little();
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_NBI_Wait
 */
/**@{*/
#ifdef GEX_BODIES_
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

#endif
/**@}*/

/** @name Access regions (GASNet-1)
 * Give one handle to what a thread starts without handles between begin and end.
 *
 * Regions do not nest, and nothing without a handle is synchronised in one.
 * @return end: the handle.
 * @par Context
 * Any thread; not in handlers, not while holding a lock.
 * @par Example
 * @code
 * gasnet_begin_nbi_accessregion();
 * gasnet_put_nbi(peer, there, block, sizeof block);
 * gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
 * @endcode
 * @par Specification
 * GASNet-1, "Extended API".
 * @see gex_NBI_BeginAccessRegion
 */
/**@{*/
#ifdef GEX_BODIES_
GEX_INLINE_ void gasnet_begin_nbi_accessregion(void) {
  gex_NBI_BeginAccessRegion(0);
}
GEX_INLINE_ gasnet_handle_t gasnet_end_nbi_accessregion(void) {
  return gex_NBI_EndAccessRegion(0);
}
#endif
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
