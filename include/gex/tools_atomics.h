/** @file
 * Memory fences and atomic integers. Part of gasnet_tools.h.
 */
#ifndef GEX_TOOLS_ATOMICS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_ATOMICS_H_

#include <gex/any_width.h>
#include <gex/fences.h>
#include <gex/platform.h>
#include <gex/tools_mode.h>
#include <stdint.h>

/** @name Fences of atomics
 * The fences that an atomic operation needs, an OR in its `flags`: those of gasnett_local_mb and
 * its kind, before (PRE) or after (POST) the operation.
 *
 * REL is what precedes handing something over, ACQ what follows taking it.
 * @see gasnett_atomic32_add, gasnett_local_mb
 */
/**@{*/
#define GASNETT_ATOMIC_NONE 0
#define GASNETT_ATOMIC_RMB_PRE (1 << 0)
#define GASNETT_ATOMIC_WMB_PRE (1 << 1)
#define GASNETT_ATOMIC_MB_PRE (GASNETT_ATOMIC_RMB_PRE | GASNETT_ATOMIC_WMB_PRE)
#define GASNETT_ATOMIC_RMB_POST (1 << 2)
#define GASNETT_ATOMIC_WMB_POST (1 << 3)
#define GASNETT_ATOMIC_MB_POST (GASNETT_ATOMIC_RMB_POST | GASNETT_ATOMIC_WMB_POST)
/** For compare_and_swap and decrement_and_test: a fence only if the result is non-zero, or zero. */
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE (1 << 4)
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE (1 << 5)
#define GASNETT_ATOMIC_REL GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE
/**@}*/

/** @name Memory fences
 * Order the calling thread's memory accesses, as other processors see them.
 *
 * The forms with local order accesses towards everything that shares the memory: threads,
 * processes, devices. Those with weak do so between threads of one process, and are nothing where
 * there is one thread.
 * @par Context
 * Any thread, in handlers and in signal handlers.
 * @par Example
 * @code
 * message->payload = value;
 * gasnett_local_wmb();
 * message->ready = 1;
 * @endcode
 * @par Specification
 * GASNet tools, "Memory barriers".
 * @see gasnett_atomic32_add
 */
/**@{*/
/** Every earlier store is visible to all processors before any later load or store. The
 * documentation asks for no less of wmb, and so it is a full fence. */
#define gasnett_local_wmb() gex_full_fence_()
/** Every later load sees what other processors had completed before. */
#define gasnett_local_rmb() gex_read_fence_()
/** Both of these. */
#define gasnett_local_mb() gex_full_fence_()
/** Keeps the compiler, but not the processor, from moving memory accesses across. */
#define gasnett_compiler_fence() gex_compiler_fence_()

#if GEX_TOOLS_THREADS_
#define gasnett_weak_wmb() gasnett_local_wmb()
#define gasnett_weak_rmb() gasnett_local_rmb()
#define gasnett_weak_mb() gasnett_local_mb()
#else
#define gasnett_weak_wmb() ((void)0)
#define gasnett_weak_rmb() ((void)0)
#define gasnett_weak_mb() ((void)0)
#endif
/**@}*/

/** An atomic integer of 32 bits: 4 bytes, in every mode and language.
 * @see gasnett_atomic32_add
 */
typedef struct gasnett_atomic32_t {
  uint32_t gex_value; /**< The library's. */
} gasnett_atomic32_t;

/** An atomic integer of 64 bits: 8 bytes, in every mode and language.
 * @see gasnett_atomic64_add
 */
typedef struct gasnett_atomic64_t {
  uint64_t gex_value; /**< The library's. */
} gasnett_atomic64_t;

/** @name Types of atomics
 * The atomic integers of the family without a width, which has 32 bits, and their values, unsigned
 * and signed; and the types of the strong families, which are those of the plain ones.
 * @see gasnett_atomic_add
 */
/**@{*/
typedef gasnett_atomic32_t gasnett_atomic_t;
typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;
typedef gasnett_atomic_t gasnett_strongatomic_t;
typedef gasnett_atomic_val_t gasnett_strongatomic_val_t;
typedef gasnett_atomic_sval_t gasnett_strongatomic_sval_t;
/**@}*/

#define GEX_ANY32_(p) ((gex_any32_*)&(p)->gex_value)
#define GEX_ANY64_(p) ((gex_any64_*)&(p)->gex_value)

static inline void gex_fence_before_(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_PRE) {
    gex_full_fence_();
  } else if (flags & GASNETT_ATOMIC_RMB_PRE) {
    gex_read_fence_();
  }
}

static inline void gex_fence_after_(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_POST) {
    gex_full_fence_();
  } else if (flags & GASNETT_ATOMIC_RMB_POST) {
    gex_read_fence_();
  }
}

/* A read-modify-write that is asked for any fence is sequentially consistent. On x86 the locked
 * instruction is a full fence by that alone; elsewhere it orders itself and an acquire after it,
 * and the remaining fences stand beside it. */
#if defined(PLATFORM_ARCH_X86_64)
static inline void gex_fence_before_update_(int flags) {
  (void)flags;
}
static inline void gex_fence_after_update_(int flags) {
  (void)flags;
}
#else
static inline void gex_fence_before_update_(int flags) {
  gex_fence_before_(flags);
}
static inline void gex_fence_after_update_(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_POST) gex_full_fence_();
}
#endif
#define GEX_UPDATE_ORDER_(flags) ((flags) ? __ATOMIC_SEQ_CST : __ATOMIC_RELAXED)
#define GEX_LOAD_ORDER_(flags) \
  ((flags)&GASNETT_ATOMIC_RMB_POST ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED)
#define GEX_STORE_ORDER_(flags) \
  ((flags)&GASNETT_ATOMIC_MB_PRE ? __ATOMIC_RELEASE : __ATOMIC_RELAXED)

/* `shared`: another thread, process or signal handler may access the object. */

static inline uint32_t gex_atomic32_read_(const gasnett_atomic32_t* p, int flags, int shared) {
  const gex_any32_* at = (const gex_any32_*)&p->gex_value;
  uint32_t value;
  if (!shared) return *at;
  gex_fence_before_(flags);
  value = __atomic_load_n(at, GEX_LOAD_ORDER_(flags));
  gex_fence_after_(flags);
  return value;
}

static inline void gex_atomic32_set_(gasnett_atomic32_t* p, uint32_t value, int flags, int shared) {
  if (!shared) {
    *GEX_ANY32_(p) = value;
    return;
  }
  gex_fence_before_(flags);
  __atomic_store_n(GEX_ANY32_(p), value, GEX_STORE_ORDER_(flags));
  gex_fence_after_(flags);
}

static inline uint32_t gex_atomic32_add_(gasnett_atomic32_t* p, uint32_t operand, int flags,
                                         int shared) {
  uint32_t value;
  if (!shared) return *GEX_ANY32_(p) += operand;
  gex_fence_before_update_(flags);
  value = __atomic_add_fetch(GEX_ANY32_(p), operand, GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return value;
}

static inline uint32_t gex_atomic32_swap_(gasnett_atomic32_t* p, uint32_t value, int flags,
                                          int shared) {
  uint32_t old;
  if (!shared) {
    old = *GEX_ANY32_(p);
    *GEX_ANY32_(p) = value;
    return old;
  }
  gex_fence_before_update_(flags);
  old = __atomic_exchange_n(GEX_ANY32_(p), value, GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return old;
}

static inline int gex_atomic32_cas_(gasnett_atomic32_t* p, uint32_t expected, uint32_t desired,
                                    int flags, int shared) {
  int swapped;
  if (!shared) {
    if (*GEX_ANY32_(p) != expected) return 0;
    *GEX_ANY32_(p) = desired;
    return 1;
  }
  gex_fence_before_update_(flags);
  swapped = __atomic_compare_exchange_n(GEX_ANY32_(p), &expected, desired, 0,
                                        GEX_UPDATE_ORDER_(flags), GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return swapped;
}

static inline uint64_t gex_atomic64_read_(const gasnett_atomic64_t* p, int flags, int shared) {
  const gex_any64_* at = (const gex_any64_*)&p->gex_value;
  uint64_t value;
  if (!shared) return *at;
  gex_fence_before_(flags);
  value = __atomic_load_n(at, GEX_LOAD_ORDER_(flags));
  gex_fence_after_(flags);
  return value;
}

static inline void gex_atomic64_set_(gasnett_atomic64_t* p, uint64_t value, int flags, int shared) {
  if (!shared) {
    *GEX_ANY64_(p) = value;
    return;
  }
  gex_fence_before_(flags);
  __atomic_store_n(GEX_ANY64_(p), value, GEX_STORE_ORDER_(flags));
  gex_fence_after_(flags);
}

static inline uint64_t gex_atomic64_add_(gasnett_atomic64_t* p, uint64_t operand, int flags,
                                         int shared) {
  uint64_t value;
  if (!shared) return *GEX_ANY64_(p) += operand;
  gex_fence_before_update_(flags);
  value = __atomic_add_fetch(GEX_ANY64_(p), operand, GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return value;
}

static inline uint64_t gex_atomic64_swap_(gasnett_atomic64_t* p, uint64_t value, int flags,
                                          int shared) {
  uint64_t old;
  if (!shared) {
    old = *GEX_ANY64_(p);
    *GEX_ANY64_(p) = value;
    return old;
  }
  gex_fence_before_update_(flags);
  old = __atomic_exchange_n(GEX_ANY64_(p), value, GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return old;
}

static inline int gex_atomic64_cas_(gasnett_atomic64_t* p, uint64_t expected, uint64_t desired,
                                    int flags, int shared) {
  int swapped;
  if (!shared) {
    if (*GEX_ANY64_(p) != expected) return 0;
    *GEX_ANY64_(p) = desired;
    return 1;
  }
  gex_fence_before_update_(flags);
  swapped = __atomic_compare_exchange_n(GEX_ANY64_(p), &expected, desired, 0,
                                        GEX_UPDATE_ORDER_(flags), GEX_UPDATE_ORDER_(flags));
  gex_fence_after_update_(flags);
  return swapped;
}

/** @name Atomic integers
 * Operate on an atomic integer.
 *
 * There are three families with the same operations: gasnett_atomic_ (32 bits), gasnett_atomic32_
 * and gasnett_atomic64_; and the strong ones, gasnett_strongatomic..., which are atomic in every
 * mode, towards signal handlers and in memory that processes share. The plain ones are that where
 * there are threads, and ordinary memory access in sources compiled for one thread
 * (GASNETT_THREAD_SINGLE). Values are unsigned and wrap. No operation takes a lock.
 *
 * @par Synopsis
 * @code
 * gasnett_atomic[W]_t x = gasnett_atomic[W]_init(v);
 * value gasnett_atomic[W]_read(p, f);
 * void  gasnett_atomic[W]_set(p, v, f);
 * void  gasnett_atomic[W]_increment(p, f);
 * void  gasnett_atomic[W]_decrement(p, f);
 * int   gasnett_atomic[W]_decrement_and_test(p, f);
 * value gasnett_atomic[W]_add(p, v, f);
 * value gasnett_atomic[W]_subtract(p, v, f);
 * value gasnett_atomic[W]_swap(p, v, f);
 * int   gasnett_atomic[W]_compare_and_swap(p, e, d, f);
 * int   gasnett_atomic_signed(v);
 * @endcode
 * @param p  The integer. A pointer to any aligned integer or floating-point object of that width
 *           may be cast to a pointer to the type.
 * @param v  The value to begin with, to write, to add or to subtract; of signed, an unsigned value.
 * @param e  The value that compare_and_swap expects.
 * @param d  The value that it writes then.
 * @param f  The fences that the operation needs: 0 or an OR of GASNETT_ATOMIC_...
 *           (GASNETT_ATOMIC_ACQ).
 * @return read: the value. add and subtract: the new value. swap: the old value.
 *         decrement_and_test: non-zero if the value became 0. compare_and_swap: non-zero if the
 *         value was `e` and is now `d`; it never fails without cause. signed: the value as a signed
 *         number.
 * @par Context
 * Any thread, in handlers and in signal handlers.
 * @par Example
 * @code
 * static gasnett_atomic_t waiting = gasnett_atomic_init(0);
 * gasnett_atomic_increment(&waiting, GASNETT_ATOMIC_REL);
 * @endcode
 * @par Specification
 * GASNet tools, "Atomic operations".
 * @see GASNETT_ATOMIC_ACQ, gasnett_atomic_t
 */
/**@{*/
#define gasnett_atomic32_init(v) \
  { (uint32_t)(v) }
#define gasnett_atomic32_read(p, f) gex_atomic32_read_(p, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic32_set(p, v, f) gex_atomic32_set_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic32_add(p, v, f) gex_atomic32_add_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic32_subtract(p, v, f) \
  gex_atomic32_add_(p, (uint32_t)0 - (uint32_t)(v), f, GEX_TOOLS_THREADS_)
#define gasnett_atomic32_increment(p, f) ((void)gex_atomic32_add_(p, 1, f, GEX_TOOLS_THREADS_))
#define gasnett_atomic32_decrement(p, f) \
  ((void)gex_atomic32_add_(p, ~(uint32_t)0, f, GEX_TOOLS_THREADS_))
#define gasnett_atomic32_decrement_and_test(p, f) \
  (gex_atomic32_add_(p, ~(uint32_t)0, f, GEX_TOOLS_THREADS_) == 0)
#define gasnett_atomic32_swap(p, v, f) gex_atomic32_swap_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic32_compare_and_swap(p, e, d, f) \
  gex_atomic32_cas_(p, e, d, f, GEX_TOOLS_THREADS_)

#define gasnett_atomic64_init(v) \
  { (uint64_t)(v) }
#define gasnett_atomic64_read(p, f) gex_atomic64_read_(p, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic64_set(p, v, f) gex_atomic64_set_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic64_add(p, v, f) gex_atomic64_add_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic64_subtract(p, v, f) \
  gex_atomic64_add_(p, (uint64_t)0 - (uint64_t)(v), f, GEX_TOOLS_THREADS_)
#define gasnett_atomic64_increment(p, f) ((void)gex_atomic64_add_(p, 1, f, GEX_TOOLS_THREADS_))
#define gasnett_atomic64_decrement(p, f) \
  ((void)gex_atomic64_add_(p, ~(uint64_t)0, f, GEX_TOOLS_THREADS_))
#define gasnett_atomic64_decrement_and_test(p, f) \
  (gex_atomic64_add_(p, ~(uint64_t)0, f, GEX_TOOLS_THREADS_) == 0)
#define gasnett_atomic64_swap(p, v, f) gex_atomic64_swap_(p, v, f, GEX_TOOLS_THREADS_)
#define gasnett_atomic64_compare_and_swap(p, e, d, f) \
  gex_atomic64_cas_(p, e, d, f, GEX_TOOLS_THREADS_)

#define gasnett_strongatomic32_init(v) gasnett_atomic32_init(v)
#define gasnett_strongatomic32_read(p, f) gex_atomic32_read_(p, f, 1)
#define gasnett_strongatomic32_set(p, v, f) gex_atomic32_set_(p, v, f, 1)
#define gasnett_strongatomic32_add(p, v, f) gex_atomic32_add_(p, v, f, 1)
#define gasnett_strongatomic32_subtract(p, v, f) \
  gex_atomic32_add_(p, (uint32_t)0 - (uint32_t)(v), f, 1)
#define gasnett_strongatomic32_increment(p, f) ((void)gex_atomic32_add_(p, 1, f, 1))
#define gasnett_strongatomic32_decrement(p, f) ((void)gex_atomic32_add_(p, ~(uint32_t)0, f, 1))
#define gasnett_strongatomic32_decrement_and_test(p, f) \
  (gex_atomic32_add_(p, ~(uint32_t)0, f, 1) == 0)
#define gasnett_strongatomic32_swap(p, v, f) gex_atomic32_swap_(p, v, f, 1)
#define gasnett_strongatomic32_compare_and_swap(p, e, d, f) gex_atomic32_cas_(p, e, d, f, 1)

#define gasnett_strongatomic64_init(v) gasnett_atomic64_init(v)
#define gasnett_strongatomic64_read(p, f) gex_atomic64_read_(p, f, 1)
#define gasnett_strongatomic64_set(p, v, f) gex_atomic64_set_(p, v, f, 1)
#define gasnett_strongatomic64_add(p, v, f) gex_atomic64_add_(p, v, f, 1)
#define gasnett_strongatomic64_subtract(p, v, f) \
  gex_atomic64_add_(p, (uint64_t)0 - (uint64_t)(v), f, 1)
#define gasnett_strongatomic64_increment(p, f) ((void)gex_atomic64_add_(p, 1, f, 1))
#define gasnett_strongatomic64_decrement(p, f) ((void)gex_atomic64_add_(p, ~(uint64_t)0, f, 1))
#define gasnett_strongatomic64_decrement_and_test(p, f) \
  (gex_atomic64_add_(p, ~(uint64_t)0, f, 1) == 0)
#define gasnett_strongatomic64_swap(p, v, f) gex_atomic64_swap_(p, v, f, 1)
#define gasnett_strongatomic64_compare_and_swap(p, e, d, f) gex_atomic64_cas_(p, e, d, f, 1)

#define gasnett_atomic_init(v) gasnett_atomic32_init(v)
#define gasnett_atomic_read(p, f) gasnett_atomic32_read(p, f)
#define gasnett_atomic_set(p, v, f) gasnett_atomic32_set(p, v, f)
#define gasnett_atomic_add(p, v, f) gasnett_atomic32_add(p, v, f)
#define gasnett_atomic_subtract(p, v, f) gasnett_atomic32_subtract(p, v, f)
#define gasnett_atomic_increment(p, f) gasnett_atomic32_increment(p, f)
#define gasnett_atomic_decrement(p, f) gasnett_atomic32_decrement(p, f)
#define gasnett_atomic_decrement_and_test(p, f) gasnett_atomic32_decrement_and_test(p, f)
#define gasnett_atomic_swap(p, v, f) gasnett_atomic32_swap(p, v, f)
#define gasnett_atomic_compare_and_swap(p, e, d, f) gasnett_atomic32_compare_and_swap(p, e, d, f)

#define gasnett_strongatomic_init(v) gasnett_atomic32_init(v)
#define gasnett_strongatomic_read(p, f) gasnett_strongatomic32_read(p, f)
#define gasnett_strongatomic_set(p, v, f) gasnett_strongatomic32_set(p, v, f)
#define gasnett_strongatomic_add(p, v, f) gasnett_strongatomic32_add(p, v, f)
#define gasnett_strongatomic_subtract(p, v, f) gasnett_strongatomic32_subtract(p, v, f)
#define gasnett_strongatomic_increment(p, f) gasnett_strongatomic32_increment(p, f)
#define gasnett_strongatomic_decrement(p, f) gasnett_strongatomic32_decrement(p, f)
#define gasnett_strongatomic_decrement_and_test(p, f) \
  gasnett_strongatomic32_decrement_and_test(p, f)
#define gasnett_strongatomic_swap(p, v, f) gasnett_strongatomic32_swap(p, v, f)
#define gasnett_strongatomic_compare_and_swap(p, e, d, f) \
  gasnett_strongatomic32_compare_and_swap(p, e, d, f)

#define gasnett_atomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define gasnett_strongatomic_signed(v) gasnett_atomic_signed(v)
/**@}*/

/** @name Values of atomics
 * The largest value of an atomic of the family without a width; as signed, the smallest and the
 * largest.
 * @see gasnett_atomic_signed
 */
/**@{*/
#define GASNETT_ATOMIC_MAX 0xFFFFFFFFu
#define GASNETT_ATOMIC_SIGNED_MIN (-0x7FFFFFFF - 1)
#define GASNETT_ATOMIC_SIGNED_MAX 0x7FFFFFFF
#define GASNETT_STRONGATOMIC_MAX GASNETT_ATOMIC_MAX
#define GASNETT_STRONGATOMIC_SIGNED_MIN GASNETT_ATOMIC_SIGNED_MIN
#define GASNETT_STRONGATOMIC_SIGNED_MAX GASNETT_ATOMIC_SIGNED_MAX
/**@}*/

/** @name Which atomics exist
 * 1: compare_and_swap exists; add and subtract exist. They always do. No operation takes a lock, so
 * GASNETT_USING_GENERIC_ATOMICOPS and the NOT_SIGNALSAFE names are never defined.
 * @par Further names
 * GASNETT_USING_GENERIC_ATOMICOPS, GASNETT_STRONGATOMIC_NOT_SIGNALSAFE,
 * GASNETT_STRONGATOMIC32_NOT_SIGNALSAFE, GASNETT_STRONGATOMIC64_NOT_SIGNALSAFE
 * @see gasnett_atomic_add
 */
/**@{*/
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
/**@}*/

#endif
