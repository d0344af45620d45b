/* Handler-safe locks. Spec: "Handler-safe locks (HSLs)". Part of gasnetex.h.
 *
 * The only locks that handlers may take. While holding one a thread makes no call but those the
 * spec allows in restricted context. Locking never polls. They may be released in any order. Real
 * locks in PARSYNC and PAR; in SEQ, where nothing can contend, only state.
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

/** One cache line in every mode, build and language. */
typedef struct gex_HSL_t {
  uint32_t state_; /* 0 free, 1 held */
  uint32_t owner_; /* checked calls: the holding thread's number */
  uint64_t reserved_[7];
} gex_HSL_t;
/* clang-format off */
#define GEX_HSL_INITIALIZER {0, 0, {0, 0, 0, 0, 0, 0, 0}}
/* clang-format on */

GEX_EXPORT_ void gex_hsl_lock_(gex_HSL_t* hsl);
GEX_EXPORT_ void gex_hsl_unlock_(gex_HSL_t* hsl);
GEX_EXPORT_ int gex_hsl_trylock_(gex_HSL_t* hsl);

/** Makes a free lock. */
GEX_EXPORT_ void gex_HSL_Init(gex_HSL_t* hsl);
/** Ends a lock, which must be free. */
GEX_EXPORT_ void gex_HSL_Destroy(gex_HSL_t* hsl);

#ifdef GEX_BODIES_
GEX_INLINE_ void gex_HSL_Lock(gex_HSL_t* hsl) {
  if (GEX_UNLIKELY_(gex_proc_.observed) ||
      GEX_UNLIKELY_(__atomic_exchange_n(&hsl->state_, 1u, __ATOMIC_ACQUIRE)))
    gex_hsl_lock_(hsl);
}
GEX_INLINE_ void gex_HSL_Unlock(gex_HSL_t* hsl) {
  if (GEX_UNLIKELY_(gex_proc_.observed))
    gex_hsl_unlock_(hsl);
  else
    __atomic_store_n(&hsl->state_, 0u, __ATOMIC_RELEASE);
}
/** GASNET_OK with the lock held, or GASNET_ERR_NOT_READY. */
GEX_INLINE_ int gex_HSL_Trylock(gex_HSL_t* hsl) {
  if (GEX_LIKELY_(!gex_proc_.observed) && !__atomic_exchange_n(&hsl->state_, 1u, __ATOMIC_ACQUIRE))
    return 0;
  return gex_hsl_trylock_(hsl);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
