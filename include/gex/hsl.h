/** @file
 * Handler-safe locks. Part of gasnetex.h.
 *
 * The only locks that handlers may take.
 */
#ifndef GEX_HSL_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_HSL_H_

#include <gex/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A handler-safe lock: one cache line in every mode, build and language.
 *
 * The fields are the library's. A lock is made by #GEX_HSL_INITIALIZER or gex_HSL_Init, does not
 * move, and belongs to one process.
 * @see gex_HSL_Lock
 */
typedef struct gex_HSL_t {
  uint32_t state_; /* 0 free, 1 held */
  uint32_t owner_; /* checked calls: the holding thread's number */
  uint64_t reserved_[7];
} gex_HSL_t;
/* clang-format off */
/** Initialises a free lock where it is defined: `static gex_HSL_t lock = GEX_HSL_INITIALIZER;`.
 * @see gex_HSL_Init
 */
#define GEX_HSL_INITIALIZER {0, 0, {0, 0, 0, 0, 0, 0, 0}}
/* clang-format on */

GEX_EXPORT_ void gex_hsl_lock_(gex_HSL_t* hsl);
GEX_EXPORT_ void gex_hsl_unlock_(gex_HSL_t* hsl);
GEX_EXPORT_ int gex_hsl_trylock_(gex_HSL_t* hsl);

/** @name Make and end a lock
 * Make a free lock in memory of the caller's, and end one.
 *
 * @param hsl  The lock. Init: memory that holds no lock in use. Destroy: a lock that is free, and
 *             that no thread will use any more. The memory stays the caller's.
 * @par Context
 * Any thread, in handlers, and while holding another HSL.
 * @par Example
 * @code
 * gex_HSL_t* lock = malloc(sizeof *lock);
 * gex_HSL_Init(lock);
 * @endcode
 * @par Specification
 * GASNet-EX, "Handler-safe locks (HSLs)".
 * @see gex_HSL_Lock, GEX_HSL_INITIALIZER
 */
/**@{*/
/** Makes a free lock. */
GEX_EXPORT_ void gex_HSL_Init(gex_HSL_t* hsl);
/** Ends a lock. */
GEX_EXPORT_ void gex_HSL_Destroy(gex_HSL_t* hsl);
/**@}*/

/** @name Lock and unlock
 * Take and release a handler-safe lock.
 *
 * One thread holds a lock at a time; it does not take it again. While holding one, a thread makes
 * only the calls that are allowed in handlers, and sends no reply. Locks may be released in any
 * order, by the thread that holds them, a handler's before it returns. In GASNET_SEQ nothing can
 * contend, and a lock is state only.
 *
 * @param hsl  The lock.
 * @return Trylock: GASNET_OK with the lock held, or GASNET_ERR_NOT_READY if another thread holds
 *         it.
 * @par Ordering and visibility
 * What a thread wrote before it released the lock can be read by the one that takes it next.
 * @par Errors
 * None is returned. The checking library ends the job with one line for a lock taken twice,
 * released by another thread, or kept beyond the end of a handler.
 * @par Context
 * Any thread, and in handlers. Nothing here polls: Lock spins, and gives the processor up.
 * @par Example
 * @code
 * static gex_HSL_t lock = GEX_HSL_INITIALIZER;
 * gex_HSL_Lock(&lock);
 * total += amount;  // a handler adds to it, too
 * gex_HSL_Unlock(&lock);
 * @endcode
 * @par Specification
 * GASNet-EX, "Handler-safe locks (HSLs)".
 * @see gex_HSL_Init
 */
/**@{*/
#ifdef GEX_BODIES_
/** Returns with the lock held. */
GEX_INLINE_ void gex_HSL_Lock(gex_HSL_t* hsl) {
  if (GEX_UNLIKELY_(gex_proc_.observed) ||
      GEX_UNLIKELY_(__atomic_exchange_n(&hsl->state_, 1u, __ATOMIC_ACQUIRE)))
    gex_hsl_lock_(hsl);
}
/** Releases the lock. */
GEX_INLINE_ void gex_HSL_Unlock(gex_HSL_t* hsl) {
  if (GEX_UNLIKELY_(gex_proc_.observed))
    gex_hsl_unlock_(hsl);
  else
    __atomic_store_n(&hsl->state_, 0u, __ATOMIC_RELEASE);
}
/** Takes the lock if it is free. */
GEX_INLINE_ int gex_HSL_Trylock(gex_HSL_t* hsl) {
  if (GEX_LIKELY_(!gex_proc_.observed) && !__atomic_exchange_n(&hsl->state_, 1u, __ATOMIC_ACQUIRE))
    return 0;
  return gex_hsl_trylock_(hsl);
}
/**@}*/
#endif

#ifdef __cplusplus
}
#endif
#endif
