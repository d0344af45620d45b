/* Memory fences that compilers accept under ThreadSanitizer too. Of use to gasnetex.h and
 * gasnet_tools.h; no part of the interface.
 */
#ifndef GEX_FENCES_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_FENCES_H_

/* ThreadSanitizer does not support fences, and GCC warns of them. It sees the ordering that the
 * operations themselves carry; for the processor the instruction is enough. */
#if defined(__SANITIZE_THREAD__)
#define GEX_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GEX_TSAN_ 1
#endif
#endif

static inline void gex_compiler_fence_(void) {
  __asm__ __volatile__("" : : : "memory");
}

static inline void gex_full_fence_(void) {
#if defined(GEX_TSAN_) && defined(__x86_64__)
  __asm__ __volatile__("mfence" : : : "memory");
#elif defined(GEX_TSAN_) && defined(__aarch64__)
  __asm__ __volatile__("dmb ish" : : : "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void gex_read_fence_(void) {
  gex_compiler_fence_();
#if defined(GEX_TSAN_) && defined(__aarch64__)
  __asm__ __volatile__("dmb ishld" : : : "memory");
#elif !defined(GEX_TSAN_) || !defined(__x86_64__)
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

#endif
