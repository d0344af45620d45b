/* Memory fences and atomic integers. Part of gasnet_tools.h.
 *
 * Three families with the same operations, over gasnett_atomic_t (32 bits), gasnett_atomic32_t and
 * gasnett_atomic64_t; X below is one of the three:
 *   gasnett_atomicX_init(value)                       static initialiser
 *   gasnett_atomicX_set(p, value, flags)
 *   gasnett_atomicX_read(p, flags)                    the value
 *   gasnett_atomicX_increment(p, flags)
 *   gasnett_atomicX_decrement(p, flags)
 *   gasnett_atomicX_decrement_and_test(p, flags)      non-zero if the value became 0
 *   gasnett_atomicX_add(p, operand, flags)            the new value
 *   gasnett_atomicX_subtract(p, operand, flags)       the new value
 *   gasnett_atomicX_compare_and_swap(p, expected, desired, flags)
 *                                                     non-zero if it was `expected` and is now
 *                                                     `desired`; never fails spuriously
 *   gasnett_atomicX_swap(p, value, flags)             the old value
 * Values are unsigned and wrap; gasnett_atomic_signed() converts one of gasnett_atomic_t.
 *
 * The strong family, gasnett_strongatomicX_..., is atomic in every mode, towards signal handlers
 * and in memory that processes share. The plain family is that where there are threads, and
 * ordinary memory access in sources compiled for one thread (gex/tools_mode.h). A pointer to any
 * 4- or 8-byte integer or floating-point object may be cast to a pointer to the type of that width.
 *
 * `flags` are the fences that the operation needs, GASNETT_ATOMIC_..., or 0. Fences are those
 * of gasnett_local_mb and its kind, before or after the operation. All of this may be called from
 * any thread, in AM handlers and in signal handlers. */
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

/** Every earlier store is visible to all processors before any later load or store. The
 * documentation asks for no less of wmb, and so it is a full fence. */
#define gasnett_local_wmb() gex_full_fence_()
/** Every later load sees what other processors had completed before. */
#define gasnett_local_rmb() gex_read_fence_()
/** Both. */
#define gasnett_local_mb() gex_full_fence_()
/** Keeps the compiler, but not the processor, from moving memory accesses across. */
#define gasnett_compiler_fence() gex_compiler_fence_()

/* The same between threads of one process: nothing where there is one thread. */
#if GEX_TOOLS_THREADS_
#define gasnett_weak_wmb() gasnett_local_wmb()
#define gasnett_weak_rmb() gasnett_local_rmb()
#define gasnett_weak_mb() gasnett_local_mb()
#else
#define gasnett_weak_wmb() ((void)0)
#define gasnett_weak_rmb() ((void)0)
#define gasnett_weak_mb() ((void)0)
#endif

/** An atomic integer of 32 bits: 4 bytes, in every mode and language. */
typedef struct gasnett_atomic32_t {
  uint32_t gex_value;
} gasnett_atomic32_t;

/** An atomic integer of 64 bits: 8 bytes, in every mode and language. */
typedef struct gasnett_atomic64_t {
  uint64_t gex_value;
} gasnett_atomic64_t;

typedef gasnett_atomic32_t gasnett_atomic_t;
typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;
typedef gasnett_atomic_t gasnett_strongatomic_t;
typedef gasnett_atomic_val_t gasnett_strongatomic_val_t;
typedef gasnett_atomic_sval_t gasnett_strongatomic_sval_t;

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

/** A value of gasnett_atomic_t as a signed number. */
#define gasnett_atomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define gasnett_strongatomic_signed(v) gasnett_atomic_signed(v)
#define GASNETT_ATOMIC_MAX 0xFFFFFFFFu
#define GASNETT_ATOMIC_SIGNED_MIN (-0x7FFFFFFF - 1)
#define GASNETT_ATOMIC_SIGNED_MAX 0x7FFFFFFF
#define GASNETT_STRONGATOMIC_MAX GASNETT_ATOMIC_MAX
#define GASNETT_STRONGATOMIC_SIGNED_MIN GASNETT_ATOMIC_SIGNED_MIN
#define GASNETT_STRONGATOMIC_SIGNED_MAX GASNETT_ATOMIC_SIGNED_MAX

/* Every operation exists, and none takes a lock: GASNETT_USING_GENERIC_ATOMICOPS and
 * GASNETT_STRONGATOMIC{,32,64}_NOT_SIGNALSAFE are never defined. */
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1

#endif
